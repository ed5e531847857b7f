"""Split a bill between friends, to the cent.

    python3 bill.py 100.00 Ada Ben Cleo
"""

import sys


def parse_cents(text):
    """The amount in cents: "12.5" is 1250."""
    whole, _, fraction = text.partition(".")
    return int(whole) * 100 + int(fraction.ljust(2, "0"))


def format_cents(cents):
    """The amount as people write it: 1250 is "12.50"."""
    return f"{cents // 100}.{cents % 100:02}"


def split(total, people):
    """Each person's share, in cents."""
    share = total // people
    return [share] * people


def main(arguments):
    if len(arguments) < 2:
        print("usage: bill.py AMOUNT NAME...", file=sys.stderr)
        return 2
    total, names = parse_cents(arguments[0]), arguments[1:]
    for name, share in zip(names, split(total, len(names))):
        print(f"{name:10} {format_cents(share):>8}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
