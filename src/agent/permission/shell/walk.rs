//! Finds the simple commands in a syntax tree, wherever they are.

use brush_parser::ast::{
    self, AndOr, Assignment, AssignmentName, AssignmentValue, CommandPrefixOrSuffixItem,
    CompoundCommand, CompoundList, ExtendedTestExpr, FunctionBody, IoFileRedirectKind,
    IoFileRedirectTarget, IoRedirect, Pipeline,
};

use super::inner::is_name;
use super::line::Input;
use super::scan::{Quoting, Variables, scan};
use super::word::Word;

/// The contents of one script itself.
#[derive(Default)]
pub(super) struct Found {
    pub commands: Vec<FoundCommand>,
    pub writes: Vec<Word>,
    pub overwrites: Vec<Word>,
    pub sets: Vec<String>,
    pub doubts: Vec<String>,
    /// The scripts in its substitutions.
    pub scripts: Vec<String>,
}

pub(super) struct FoundCommand {
    pub words: Vec<Word>,
    /// The variables that are set for it.
    pub sets: Vec<(String, Word)>,
    pub input: Input,
}

pub(super) struct Walker<'a> {
    pub found: Found,
    pub is_script: &'a dyn Fn(&str) -> bool,
    script: Vec<char>,
    variables: Variables,
    /// Names set more than once, or perhaps not at all.
    unsure: Vec<String>,
}

impl<'a> Walker<'a> {
    pub fn new(script: &str, is_script: &'a dyn Fn(&str) -> bool) -> Self {
        Self {
            script: script.chars().collect(),
            found: Found::default(),
            is_script,
            variables: Variables::new(),
            unsure: Vec::new(),
        }
    }

    /// Walks a whole script; commands at its top level always run.
    pub fn program(&mut self, program: &ast::Program) {
        for list in &program.complete_commands {
            self.list(list, true);
        }
    }

    fn list(&mut self, list: &CompoundList, certain: bool) {
        for item in &list.0 {
            let certain = certain && matches!(item.1, ast::SeparatorOperator::Sequence);
            self.pipeline(&item.0.first, certain);
            for next in &item.0.additional {
                let (AndOr::And(pipeline) | AndOr::Or(pipeline)) = next;
                self.pipeline(pipeline, false);
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, certain: bool) {
        let certain = certain && pipeline.seq.len() == 1;
        for (index, command) in pipeline.seq.iter().enumerate() {
            let input = if index > 0 {
                Input::Other
            } else {
                Input::Plain
            };
            self.command(command, certain, input);
        }
    }

    fn command(&mut self, command: &ast::Command, certain: bool, input: Input) {
        match command {
            ast::Command::Simple(simple) => self.simple(simple, certain, input),
            ast::Command::Compound(compound, redirects) => {
                self.redirects(redirects.as_ref());
                self.compound(compound);
            }
            ast::Command::Function(function) => {
                let FunctionBody(body, redirects) = &function.body;
                self.redirects(redirects.as_ref());
                self.compound(body);
            }
            ast::Command::ExtendedTest(test, redirects) => {
                self.redirects(redirects.as_ref());
                self.test(&test.expr);
            }
        }
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::Arithmetic(command) => {
                let span = (command.loc.start.index, command.loc.end.index);
                if self.is_arithmetic(span, &command.expr.value) {
                    self.text(&command.expr.value);
                } else {
                    self.doubt("parentheses that may be subshells");
                }
            }
            CompoundCommand::ArithmeticForClause(clause) => {
                let parts = [&clause.initializer, &clause.condition, &clause.updater];
                for part in parts.into_iter().flatten() {
                    self.text(&part.value);
                }
                self.list(&clause.body.list, false);
            }
            CompoundCommand::BraceGroup(group) => self.list(&group.list, false),
            CompoundCommand::Subshell(subshell) => self.list(&subshell.list, false),
            CompoundCommand::ForClause(clause) => {
                self.set(&clause.variable_name, None);
                self.found.sets.push(clause.variable_name.clone());
                for value in clause.values.iter().flatten() {
                    self.word(&value.value);
                }
                self.list(&clause.body.list, false);
            }
            CompoundCommand::CaseClause(clause) => {
                self.loose(&clause.value.value);
                for case in &clause.cases {
                    for pattern in &case.patterns {
                        self.loose(&pattern.value);
                    }
                    if let Some(list) = &case.cmd {
                        self.list(list, false);
                    }
                }
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition, false);
                self.list(&clause.then, false);
                for other in clause.elses.iter().flatten() {
                    if let Some(condition) = &other.condition {
                        self.list(condition, false);
                    }
                    self.list(&other.body, false);
                }
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0, false);
                self.list(&clause.1.list, false);
            }
            CompoundCommand::Coprocess(coprocess) => {
                self.command(&coprocess.body, false, Input::Other);
            }
        }
    }

    /// Whether bash, too, reads this `((...))` as arithmetic and not as nested subshells.
    fn is_arithmetic(&self, (start, end): (usize, usize), inner: &str) -> bool {
        let places = [start, start + 1, end.wrapping_sub(2), end.wrapping_sub(1)];
        let marks = places.map(|at| self.script.get(at));
        let mut depth = 0_i32;
        let balanced = inner.chars().all(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth >= 0
        });
        marks == ['(', '(', ')', ')'].each_ref().map(Some)
            && balanced
            && !inner.contains([';', '\n', '\'', '"'])
            && !has_operands_side_by_side(inner)
    }

    fn test(&mut self, test: &ExtendedTestExpr) {
        match test {
            ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                self.test(left);
                self.test(right);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => {
                self.test(inner);
            }
            ExtendedTestExpr::UnaryTest(_, word) => self.operand(&word.value),
            ExtendedTestExpr::BinaryTest(_, left, right) => {
                self.operand(&left.value);
                self.operand(&right.value);
            }
        }
    }

    /// One side of a test, which bash may evaluate as arithmetic.
    fn operand(&mut self, text: &str) {
        if text.contains("[$(") || text.contains("[`") {
            self.doubt("a test that may run a command in an arithmetic value");
        }
        self.loose(text);
    }

    fn simple(&mut self, simple: &ast::SimpleCommand, certain: bool, input: Input) {
        let mut words = Vec::new();
        let mut sets = Vec::new();
        let mut input = input;
        let prefix = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let plain = simple.word_or_name.is_none();
        for item in prefix {
            match item {
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => {
                    sets.push(self.assignment(assignment, certain && plain));
                }
                item => self.item(item, &mut words, &mut input),
            }
        }
        if let Some(name) = &simple.word_or_name {
            words.extend(self.word(&name.value));
        }
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            self.item(item, &mut words, &mut input);
        }
        // `{NAME}>FILE` puts a number into a variable.
        let brace = |word: &Word| {
            let text = word.exact()?;
            let name = text.strip_prefix('{')?.strip_suffix('}')?;
            is_name(name).then(|| name.to_owned())
        };
        self.found.sets.extend(words.iter().filter_map(brace));
        if plain {
            self.found
                .sets
                .extend(sets.into_iter().map(|(name, _)| name));
        } else {
            self.found
                .commands
                .push(FoundCommand { words, sets, input });
        }
    }

    fn item(&mut self, item: &CommandPrefixOrSuffixItem, words: &mut Vec<Word>, input: &mut Input) {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => {
                if let Some(read) = self.redirect(redirect) {
                    *input = read;
                }
            }
            // An argument, for example of export: for a built-in it sets a variable.
            CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                if matches!(assignment.value, AssignmentValue::Array(_)) {
                    self.assignment(assignment, false);
                    words.push(Word::unknown());
                } else {
                    words.extend(self.word(&word.value));
                }
            }
            CommandPrefixOrSuffixItem::Word(word) => words.extend(self.word(&word.value)),
            CommandPrefixOrSuffixItem::ProcessSubstitution(_, subshell) => {
                self.list(&subshell.list, false);
                words.push(Word::between("/dev/fd/", ""));
            }
        }
    }

    /// Records an assignment; returns the variable it sets.
    fn assignment(&mut self, assignment: &Assignment, known: bool) -> (String, Word) {
        let name = match &assignment.name {
            AssignmentName::VariableName(name) => name,
            AssignmentName::ArrayElementName(name, index) => {
                self.text(index);
                name
            }
        };
        let value = match &assignment.value {
            AssignmentValue::Scalar(word) => {
                let words = self.scan(&word.value, Quoting::Loose);
                words.into_iter().next().unwrap_or_default()
            }
            AssignmentValue::Array(items) => {
                for (key, word) in items {
                    if let Some(key) = key {
                        self.text(&key.value);
                    }
                    self.word(&word.value);
                }
                Word::unknown()
            }
        };
        if value.to_string().contains("[$(") || value.to_string().contains("[`") {
            self.doubt("an arithmetic value that may run a command");
        }
        let plain = matches!(assignment.name, AssignmentName::VariableName(_));
        let known = known && plain && !assignment.append;
        self.set(name, known.then(|| value.clone()));
        (name.clone(), value)
    }

    /// Remembers a variable's value, if it is certain.
    fn set(&mut self, name: &str, value: Option<Word>) {
        let again = self.variables.remove(name).is_some();
        match value {
            Some(value) if !again && !self.unsure.iter().any(|unsure| unsure == name) => {
                let atoms = value.atoms().to_vec();
                self.variables.insert(name.to_owned(), atoms);
            }
            _ => self.unsure.push(name.to_owned()),
        }
    }

    fn redirects(&mut self, list: Option<&ast::RedirectList>) {
        for redirect in list.iter().flat_map(|list| &list.0) {
            self.redirect(redirect);
        }
    }

    /// Records a redirection; returns what the command reads from it.
    fn redirect(&mut self, redirect: &IoRedirect) -> Option<Input> {
        match redirect {
            IoRedirect::File(_, kind, target) => {
                let words = match target {
                    IoFileRedirectTarget::Filename(word)
                    | IoFileRedirectTarget::Duplicate(word) => self.word(&word.value),
                    IoFileRedirectTarget::Fd(_) => Vec::new(),
                    IoFileRedirectTarget::ProcessSubstitution(_, subshell) => {
                        self.list(&subshell.list, false);
                        Vec::new()
                    }
                };
                match kind {
                    IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput => {
                        return Some(Input::Other);
                    }
                    // `>&2` and `>&-` name no file.
                    IoFileRedirectKind::DuplicateOutput => {
                        let is_number = |text: String| {
                            let mut chars = text.trim_end_matches('-').chars();
                            chars.all(|c| c.is_ascii_digit())
                        };
                        let is_file = |word: &Word| !word.exact().is_some_and(is_number);
                        self.found.writes.extend(words.into_iter().filter(is_file));
                    }
                    IoFileRedirectKind::Write | IoFileRedirectKind::Clobber => {
                        self.found.overwrites.extend(words.iter().cloned());
                        self.found.writes.extend(words);
                    }
                    _ => self.found.writes.extend(words),
                }
                None
            }
            IoRedirect::OutputAndError(word, appends) => {
                let words = self.word(&word.value);
                let overwritten = words.iter().filter(|_| !appends).cloned();
                self.found.overwrites.extend(overwritten);
                self.found.writes.extend(words);
                None
            }
            IoRedirect::HereString(_, word) => {
                let words = self.word(&word.value);
                Some(Input::Text(words.first().and_then(Word::pattern)))
            }
            IoRedirect::HereDocument(_, document) => {
                let text = &document.doc.value;
                if !document.requires_expansion {
                    return Some(Input::Text(Some(text.clone())));
                }
                let words = self.scan(text, Quoting::Text);
                Some(Input::Text(words.first().and_then(Word::pattern)))
            }
        }
    }

    fn word(&mut self, text: &str) -> Vec<Word> {
        self.scan(text, Quoting::None)
    }

    /// Records what is in a pattern or a test.
    fn loose(&mut self, text: &str) {
        self.scan(text, Quoting::Loose);
    }

    /// Records what is in an arithmetic expression.
    fn text(&mut self, text: &str) {
        self.scan(text, Quoting::Text);
    }

    /// Records the scripts in `text`; returns the words that it becomes.
    fn scan(&mut self, text: &str, quoting: Quoting) -> Vec<Word> {
        let none = Variables::new();
        let variables = match quoting {
            Quoting::Text => &none,
            _ => &self.variables,
        };
        match scan(text, quoting, variables, self.is_script) {
            Ok(scanned) => {
                self.found.scripts.extend(scanned.scripts);
                scanned.words
            }
            Err(doubt) => {
                self.doubt(&doubt);
                vec![Word::unknown_words()]
            }
        }
    }

    fn doubt(&mut self, doubt: &str) {
        self.found.doubts.push(doubt.to_owned());
    }
}

/// Whether two operands are next to each other, with only blanks between. Then it isn't arithmetic, but a
/// command in shells without `((...))`. A substitution is one operand.
fn has_operands_side_by_side(expression: &str) -> bool {
    let begins = |c: char| c.is_alphanumeric() || "_$`(".contains(c);
    let ends = |c: char| c.is_alphanumeric() || "_`)}]".contains(c);
    // Brackets still open in a substitution, and whether it is in backquotes.
    let (mut depth, mut in_backquotes) = (0_usize, false);
    let (mut operand, mut last) = (false, ' ');
    for c in expression.chars() {
        let begins_substitution = matches!(c, '(' | '{') && (last == '$' || depth > 0);
        if depth > 0 && matches!(c, ')' | '}') {
            depth -= 1;
        } else if begins_substitution {
            depth += 1;
        } else if c == '`' && depth == 0 {
            in_backquotes = !in_backquotes;
            if in_backquotes && operand && last.is_whitespace() {
                return true;
            }
        } else if depth == 0 && !in_backquotes && last.is_whitespace() && operand && begins(c) {
            return true;
        }
        if depth == 0 && !in_backquotes && !c.is_whitespace() {
            operand = ends(c);
        }
        last = c;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_of_expressions_have_operators_between_them() {
        for (expression, expected) in [
            ("i++", false),
            (" count += 1 ", false),
            ("a > b && (c - d) * 2", false),
            ("x ? y : z", false),
            ("$(git rev-list --count HEAD) > 5", false),
            ("${#list[@]} == 0", false),
            ("`wc -l` > 5", false),
            ("${x:-a b} + 1", false),
            ("git push", true),
            (" git  push ", true),
            ("(git push)", true),
            ("git push --tags", true),
            ("git $(echo push)", true),
            ("$git push", true),
            ("${git} push", true),
            ("$(echo git) push", true),
            ("git `echo push`", true),
            ("`echo git` push", true),
            ("git (push)", true),
        ] {
            let found = has_operands_side_by_side(expression);
            assert_eq!(found, expected, "{expression}");
        }
    }
}
