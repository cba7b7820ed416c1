package tidy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A reader who has settle.go open looks for settle_test.go, or for settle_<aspect>_test.go: decision 165.

// A testKind is about no single file of its package. The first word of the files names it.
type testKind struct {
	only   string // what its functions begin with; empty: it has helpers alone
	reason string
}

// anyTest stands for tests, benchmarks and fuzz targets alike.
const anyTest = "any"

var testKinds = map[string]testKind{
	"main":    {anyTest, "starts the tests of the package, and tests how they start"},
	"harness": {"", "helps the tests of several files"},
	"helpers": {"", "helps the tests of several files"},
	"export":  {"", "opens what is not exported to tests of another package"},
	"fake":    {"", "answers as the software does that the package asks"},

	"bench":       {"Benchmark", "measures the package as a whole"},
	"fuzz":        {"Fuzz", "feeds every parser of the package"},
	"example":     {"Example", "shows the package to its users"},
	"random":      {anyTest, "states what holds for every history or input of the package"},
	"conformance": {anyTest, "holds an implementation to the tests of all of them"},
	"documented":  {anyTest, "holds the package to its documents"},
	"recorded":    {anyTest, "replays what others' software answered, through the whole package"},
	"vectors":     {anyTest, "holds the package to what others publish, through several files"},
}

// besideNothing are the packages and files whose tests are beside no file, and why.
var besideNothing = map[string]string{
	"sandbox/browser": "the package consists of tests",
	"sandbox/clients": "the package consists of tests",
	"sandbox/e2e":     "the package consists of tests",
	"sandbox/latency": "the package consists of tests",

	"tidy": "the package consists of tests of the repository",

	"cmd/bursar-approve": "its tests run the program",
	"cmd/bursar-signer":  "its tests run the program",
}

// firstWords are the beginnings of a test file's name that end before an underscore or before _test.go, such as
// settle_sweep and settle of settle_sweep_test.go.
func firstWords(name string) (beginnings []string) {
	for name = strings.TrimSuffix(name, "_test.go"); ; {
		beginnings = append(beginnings, name)
		cut := strings.LastIndexByte(name, '_')
		if cut < 0 {
			return beginnings
		}
		name = name[:cut]
	}
}

// isBeside reports whether a test file is named after a file of its folder, or after its package.
func isBeside(folder, name string, files []string) bool {
	pkg := path.Base(folder)
	if folder == "." {
		pkg = path.Base(module)
	}
	return slices.ContainsFunc(firstWords(name), func(begins string) bool {
		return begins == pkg || slices.Contains(files, begins+".go")
	})
}

// kindOfFile returns the kind of a test file that is beside no file.
func kindOfFile(name string) (testKind, bool) {
	words := firstWords(name)
	k, is := testKinds[words[len(words)-1]]
	return k, is
}

// filesByFolder returns the names of the Go files of each folder of the repository, tests included.
func filesByFolder(t *testing.T) map[string][]string {
	t.Helper()
	folders := map[string][]string{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		skipped := []string{"testdata", "node_modules", "vendor"}
		if d.IsDir() && file != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains(skipped, d.Name())) {
			return filepath.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(file, ".go") {
			folder := filepath.ToSlash(filepath.Dir(file))
			folders[folder] = append(folders[folder], d.Name())
		}
		return nil
	})
	if err != nil || len(folders) < 50 {
		t.Fatalf("read %d folders: %v, want at least 50", len(folders), err)
	}
	return folders
}

// testsOf returns the names of the tests, benchmarks, fuzz targets and examples of a file, without TestMain.
func testsOf(t *testing.T, file string) (names []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range parsed.Decls {
		f, is := d.(*ast.FuncDecl)
		if !is || f.Recv != nil || f.Name.Name == "TestMain" {
			continue
		}
		for _, begins := range []string{"Test", "Benchmark", "Fuzz", "Example"} {
			if strings.HasPrefix(f.Name.Name, begins) {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names
}

func TestTestFilesAreBesideWhatTheyTest(t *testing.T) {
	atRoot(t)
	for folder, files := range filesByFolder(t) {
		for _, name := range files {
			file := path.Join(folder, name)
			if !strings.HasSuffix(name, "_test.go") || besideNothing[folder] != "" || besideNothing[file] != "" ||
				isBeside(folder, name, files) {
				continue
			}
			k, is := kindOfFile(name)
			if !is {
				t.Errorf("%s is beside no file: name it <file>_test.go or <file>_<aspect>_test.go after the file that has "+
					"the functions it is mainly about, or <kind>_<aspect>_test.go after one of the kinds here", file)
				continue
			}
			isOfKind(t, file, k)
		}
	}
}

// isOfKind checks that a test file has what its name says: helpers alone, or tests of its kind.
func isOfKind(t *testing.T, file string, k testKind) {
	t.Helper()
	tests := testsOf(t, file)
	if len(tests) == 0 && k.only != "" && !strings.HasPrefix(path.Base(file), "main_") {
		t.Errorf("%s has no test, and a file of that name %s: name it harness_test.go or harness_<aspect>_test.go",
			file, k.reason)
	}
	for _, test := range tests {
		if k.only != anyTest && (k.only == "" || !strings.HasPrefix(test, k.only)) {
			t.Errorf("%s has %s, and a file of that name %s: move the test beside the file that it is about",
				file, test, k.reason)
		}
	}
}

// A row about what is gone would let another file of that name be beside nothing.
func TestWhatIsBesideNothingExists(t *testing.T) {
	atRoot(t)
	folders := filesByFolder(t)
	for name, reason := range besideNothing {
		if folders[name] == nil && !slices.Contains(folders[path.Dir(name)], path.Base(name)) {
			t.Errorf("%s is in the list of what is beside nothing (%s) and does not exist: take it out", name, reason)
		}
	}
}

func TestNamesOfTestFiles(t *testing.T) {
	atRoot(t)
	files := []string{"settle.go", "settle_sweep.go", "main.go"}
	for name, want := range map[string]bool{
		"settle_test.go":              true,
		"settle_reorg_test.go":        true,
		"settle_sweep_failed_test.go": true,
		"settled_test.go":             false,
		"sweep_settle_test.go":        false,
		"outgoing_test.go":            true,
		"outgoing_random_test.go":     true,
		"harness_test.go":             false,
		"main_lines_test.go":          true,
	} {
		if got := isBeside("internal/outgoing", name, files); got != want {
			t.Errorf("%s is beside a file: %t, want %t", name, got, want)
		}
	}
	for name, want := range map[string]bool{"harness_sum_test.go": true, "fuzz_test.go": true, "kin_test.go": false} {
		if _, got := kindOfFile(name); got != want {
			t.Errorf("%s is of a kind: %t, want %t", name, got, want)
		}
	}
}
