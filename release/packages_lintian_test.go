package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Debian's checker of packages finds nothing in them but what is meant, of which each package says why: an override
// that nothing needs any more is a finding too.
func TestLintianFindsNothing(t *testing.T) {
	t.Parallel()
	need(t, "dpkg-deb", "lintian")
	b, out := built(t)
	source := filepath.Join(t.TempDir(), "main.go")
	// A program in the place of all: lintian checks that it is static and stripped, and its manual page.
	const text = "package main\n\nimport \"os\"\n\n" +
		"func main() { os.Stdout.WriteString(\".TH X 1\\n.SH NAME\\nx \\\\- y\\n\") }\n"
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		program := filepath.Join(out, p+"-linux-"+runtime.GOARCH)
		if err := os.Remove(program); err != nil { // a stand-in
			t.Fatal(err)
		}
		prints(t, "env", "CGO_ENABLED=0", "go", "build", "-ldflags=-s -w", "-o", program, source)
	}
	args := []string{"lintian", "--allow-root", "--tag-display-limit=0", "--fail-on=none",
		"--display-info"} // overrides that are not needed are informational
	for _, p := range packages {
		name, err := b.deb(t.Context(), p, out, runtime.GOARCH, "1.0.0~rc.1")
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, filepath.Join(out, name))
	}
	for line := range strings.Lines(prints(t, args...)) {
		if !strings.HasPrefix(line, "N:") && strings.TrimSpace(line) != "" {
			t.Errorf("lintian says %q, want nothing but what is overridden", line)
		}
	}
}
