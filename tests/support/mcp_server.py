#!/usr/bin/env python3
"""An MCP server for tests: mcp_server.py LOG [--name value | --name]... It appends what it gets to LOG.

--tools N, --desc LENGTH, --prompts (and resources), --noise N (messages before the first answer); --die-at-start, --wait-at-start, --garbage, --refuse-reading; and what a call of a tool does:
--die, --hang, --elicit, --touch PATHS, --port N (to connect to), --flood, --image, --change, --progress, --ask, --twice.
"""
import json, os, socket, sys, time

log, words, o = sys.argv[1], sys.argv[2:], {}
while words:
    name = words.pop(0)[2:]
    o[name] = words.pop(0) if words and not words[0].startswith("--") else True

PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
extra = []


def note(what):
    with open(log, "a") as file:
        file.write(json.dumps(what) + "\n")


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def tool(name, **more):
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    return {"name": name, "description": "x" * int(o.get("desc", 20)), "inputSchema": schema, **more}


def tools():
    listed = [tool(f"tool{k}") for k in range(int(o.get("tools", 2)))]
    return listed + [tool("look", annotations={"readOnlyHint": True})] + extra


def call(i, params):
    name = params["name"]
    if "die" in o:
        sys.stderr.write("out of memory\n")
        sys.exit(1)
    if "hang" in o:
        return
    if "flood" in o:
        sys.stdout.write("x" * 100_000_000)
        sys.stdout.flush()
    if "ask" in o:
        send({"id": "q", "method": "roots/list"})
        send({"id": "p", "method": "ping"})
    if "progress" in o:
        token = params["_meta"]["progressToken"]
        send({"method": "notifications/progress", "params": {"progressToken": token, "progress": 1, "total": 2, "message": "half"}})
        time.sleep(0.3)
    for path in o.get("touch", "").split(","):
        if path:
            try:
                open(path, "w").close()
                note({"touched": path})
            except OSError as error:
                note({"kept": path})
    if "port" in o:
        try:
            socket.create_connection(("127.0.0.1", int(o["port"]))).close()
            note({"connected": True})
        except OSError:
            note({"connected": False})
    if "elicit" in o:
        fields = {"branch": {"type": "string", "enum": ["main", "dev"]}, "count": {"type": "integer"}}
        form = {"message": "Where?", "requestedSchema": {"type": "object", "properties": fields, "required": ["branch"]}}
        send({"id": "e", "method": "elicitation/create", "params": form})
        note({"in": json.loads(sys.stdin.readline())})
    content = [{"type": "text", "text": "MCPRESULT " + json.dumps(params.get("arguments"))}]
    if "image" in o:
        content.append({"type": "image", "data": PICTURE, "mimeType": "image/png"})
    send({"id": i, "result": {"content": content, **({"isError": True} if name == "tool1" else {})}})
    if "twice" in o:
        send({"id": i, "result": {"content": [{"type": "text", "text": "AGAIN"}]}})
    if "change" in o and not extra:
        extra.append(tool("newtool"))
        send({"method": "notifications/tools/list_changed"})


note({"start": os.getpid(), "cwd": os.getcwd(), "env": {k: v for k, v in os.environ.items() if k.startswith(("LAB", "CLAUDE"))}, "args": sys.argv[2:]})
if "die-at-start" in o:
    sys.stderr.write("no database\n")
    sys.exit(3)
if "wait-at-start" in o:
    time.sleep(1000)
if "garbage" in o:
    print("this is not json\n{\"id\": 99, \"result\": 1}\n[]\n3", flush=True)
for line in sys.stdin:
    m = json.loads(line)
    note({"in": m})
    method, i, params = m.get("method"), m.get("id"), m.get("params")
    if method == "initialize":
        if "noise" in o:
            for k in range(int(o["noise"])):
                send({"method": "notifications/tools/list_changed"})
                send({"id": f"n{k}", "method": "ping"})
        offers = {"tools": {}, **({"prompts": {}, "resources": {}} if "prompts" in o else {})}
        send({"id": i, "result": {"protocolVersion": params["protocolVersion"], "capabilities": offers, "serverInfo": {"name": "lab", "version": "1"}}})
    elif method == "prompts/list":
        arguments = [{"name": "city", "required": True}, {"name": "state"}]
        send({"id": i, "result": {"prompts": [{"name": "the weather", "description": "Ask about the weather", "arguments": arguments}]}})
    elif method == "prompts/get":
        a = params["arguments"]
        text = f"Is it raining in {a['city']}, {a.get('state', 'nowhere')}?"
        image = {"type": "image", "data": PICTURE, "mimeType": "image/png"}
        parts = [("user", {"type": "text", "text": text}), ("assistant", {"type": "text", "text": "It depends."}), ("user", image)]
        send({"id": i, "result": {"messages": [{"role": role, "content": part} for role, part in parts]}})
    elif method == "resources/list":
        send({"id": i, "result": {"resources": [{"uri": "lab://one", "name": "One"}]}})
    elif method == "resources/read":
        uri = params["uri"]
        if uri == "lab://one":
            part = {"uri": uri, "text": "RESOURCEBODY"}
        elif uri == "lab://picture":
            part = {"uri": uri, "mimeType": "image/png", "blob": PICTURE}
        elif uri == "lab://long":
            part = {"uri": uri, "text": "x" * 70_000}
        else:
            send({"id": i, "error": {"code": -32002, "message": "no such resource"}})
            continue
        send({"id": i, "result": {"contents": [part]}})
    elif method == "tools/list":
        all, start = tools(), int(params.get("cursor", 0))
        page = {"tools": all[start:start + 10]}
        if start + 10 < len(all):
            page["nextCursor"] = str(start + 10)
        send({"id": i, "result": page})
    elif method == "tools/call":
        call(i, params)
