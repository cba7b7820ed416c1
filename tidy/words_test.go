package tidy_test

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// retired are words that docs/glossary.md replaced, each with what is said instead. No name in production code has one
// as a part; comments are not searched for those that are ordinary English in a sentence.
var retired = []struct {
	word, instead string
	inComments    bool
}{
	{"desk", "log key", true},
	{"chill", "move to cold", true},
	{"parked", "cooling down", true},
	{"household", "client prefix", true},
	{"noun", "subject", true},
	{"seam", "hook, interface", true},
	{"vote", "approval, decision", true},
	{"outvoted", "overruled", true},
	{"doubtful", "warning", true},
	{"told", "the verb of what happens: notified, quoted", true},
	{"tell", "notify, report, distinguish", true},
	{"telling", "suspicious", true},
	{"foreign", "external, other", false},
	{"room", "capacity, limit", false},
	{"stage", "suite", false},
	{"kin", "shared keys", false},
	{"arrival", "transfer, deposit", false},
	{"heir", "next", false},
	{"popped", "reorged out", true},
	{"oddity", "anomaly", true},
	{"outbid", "fee bump", true},
	{"lane", "destination queue", true},
	{"signatory", "person", true},
	{"undecided", "unresolved", true},
	{"rubbish", "malformed", true},
	{"seedless", "watch-only", true},
}

// retiredPhrases are the same in several words. Comments alone are searched for them.
var retiredPhrases = []struct{ phrase, instead string }{
	{"left the chain", "was reorged out"},
	{"leaves the chain", "is reorged out"},
	{"taken back", "reversed, rolled back, ended unpaid"},
}

// promised are the names that have a retired word because others read them.
var promised = map[string]string{
	"console: Votes":          "a field of the admin API and its pages",
	"chain/solana: vote":      "validators of Solana vote",
	"chain/solana: busyVotes": "validators of Solana vote",
}

var wordsOfName = regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`)

// isRetired returns what is said instead of a word; plurals and verbs in the third person count too.
func isRetired(word string, comment bool) (instead string, found bool) {
	word = strings.ToLower(word)
	for _, r := range retired {
		if (word == r.word || word == r.word+"s") && (r.inComments || !comment) {
			return r.instead, true
		}
	}
	return "", false
}

func TestRetiredWordsStayRetired(t *testing.T) {
	atRoot(t)
	used := map[string]bool{}
	for _, s := range slices.Concat(sources(t), testSources(t)) {
		for _, word := range wordsOfName.FindAllString(strings.TrimSuffix(path.Base(s.path), ".go"), -1) {
			if instead, found := isRetired(word, false); found {
				t.Errorf("the name of the file %s has the word %q, want %s", s.path, word, instead)
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			name, is := n.(*ast.Ident)
			if !is {
				return true
			}
			for _, word := range wordsOfName.FindAllString(name.Name, -1) {
				key := s.pkg + ": " + name.Name
				if instead, found := isRetired(word, false); found && promised[key] == "" {
					t.Errorf("%s: the name %s has the word %q, want %s", s.files.Position(name.Pos()), name.Name, word,
						instead)
				} else if found {
					used[key] = true
				}
			}
			return true
		})
		for _, group := range s.file.Comments {
			text := strings.Join(strings.Fields(group.Text()), " ")
			for _, r := range retiredPhrases {
				if regexp.MustCompile(`(?i)\b` + r.phrase + `\b`).MatchString(text) {
					t.Errorf("%s: the comment says %q, want %s", s.files.Position(group.Pos()), r.phrase, r.instead)
				}
			}
			for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !isLetter(r) }) {
				if instead, found := isRetired(word, true); found {
					t.Errorf("%s: the comment has the word %q, want %s", s.files.Position(group.Pos()), word, instead)
				}
			}
		}
	}
	for key := range promised {
		if !used[key] {
			t.Errorf("the exception %q is not needed any more", key)
		}
	}
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

// verbless begin package comments that define a package instead of saying what it does.
var verbless = []string{"is", "are", "has", "was"}

// A package's comment says what it does, what it owns and what it never does, so that a reader knows where a change
// belongs.
func TestPackageCommentsSayWhatIsNeverDone(t *testing.T) {
	atRoot(t)
	comments := map[string]string{}
	for _, s := range sources(t) {
		comments[s.pkg] += s.file.Doc.Text()
	}
	for pkg, comment := range comments {
		fields := strings.Fields(comment)
		if len(fields) > 2 && slices.Contains(verbless, fields[2]) {
			t.Errorf("the comment of %s begins with %q, want what the package does", pkg,
				strings.Join(fields[:3], " "))
		}
		if !regexp.MustCompile(`\b(owns?|owned)\b`).MatchString(comment) {
			t.Errorf("the comment of %s does not say what the package owns", pkg)
		}
		if !regexp.MustCompile(`\b(never|nothing|no|none|not)\b`).MatchString(comment) {
			t.Errorf("the comment of %s does not say what the package never does", pkg)
		}
	}
}
