package main

import (
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The signature is what docs/operations/releases.md says: minisign believes it with the public key, and neither with
// another one nor for other digests. The Makefile hands the key over.
func TestTheDigestsAreSigned(t *testing.T) {
	t.Parallel()
	need(t, "minisign", "make")
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	for _, name := range []string{"ours", "other"} { // -W: without a password, which would be asked for
		prints(t, "minisign", "-G", "-W", "-p", in(name+".pub"), "-s", in(name+".key"))
	}
	b := builder{at: moment}
	if err := os.WriteFile(in("program"), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := b.sums(folder, []string{"program"}); err != nil {
		t.Fatal(err)
	}
	if err := sign(t.Context(), folder, in("ours.key")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in("bursar.pub"), must(t, in("ours.pub")), 0o600); err != nil {
		t.Fatal(err)
	}
	checks := documentedCheck(t, "minisign -V")
	checks, _, _ = strings.Cut(checks, "go version") // of a program that TestTwoBuildsAreTheSame and others build
	typed(t, folder, checks)
	believed := func(key string) bool {
		return exec.CommandContext(t.Context(), "minisign", "-V", "-p", in(key), "-m", in(sumsFile)).Run() == nil
	}
	if !believed("ours.pub") || believed("other.pub") {
		t.Errorf("minisign believes it: %v, and with another key: %v, want true and false", believed("ours.pub"),
			believed("other.pub"))
	}
	sums, err := os.ReadFile(in(sumsFile))
	if err != nil {
		t.Fatal(err)
	}
	sums[0] ^= 1
	if err := os.WriteFile(in(sumsFile), sums, 0o600); err != nil {
		t.Fatal(err)
	}
	if believed("ours.pub") {
		t.Error("minisign believes other digests, want not")
	}
	if err := sign(t.Context(), folder, in("none.key")); err == nil {
		t.Error("a key that is not there signs, want an error")
	}
	for target, want := range map[string]string{
		"release":          "GOTOOLCHAIN=$(cat release/toolchain.txt) go run ./release -packages -out dist -key my.key",
		"release-binaries": "go run ./release -out dist -key my.key",
		"reproducible":     "GOTOOLCHAIN=$(cat release/toolchain.txt) go run ./release -check -packages",
	} {
		got := strings.TrimSpace(prints(t, "make", "-n", "-C", "..", "--no-print-directory", target, "KEY=my.key"))
		if got != want {
			t.Errorf("make %s runs %q, want %q", target, got, want)
		}
	}
}

// A key of SSH signs too, from its file or by the agent, and ssh-keygen verifies it as docs/operations/releases.md
// says: for these digests, this signer and this purpose alone.
func TestTheDigestsAreSignedByAKeyOfSSH(t *testing.T) {
	t.Parallel()
	need(t, "ssh-keygen", "ssh-agent", "ssh-add")
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	prints(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", in("ours"))
	public, err := os.ReadFile(in("ours.pub"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in("signers"), []byte("releases@bursar "+string(public)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in(sumsFile), []byte("00  program\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	verify := func(purpose string) error {
		c := exec.CommandContext(t.Context(), "ssh-keygen", "-Y", "verify", "-f", in("signers"), "-I", "releases@bursar",
			"-n", purpose, "-s", in(sumsFile+".sig"))
		sums, err := os.Open(in(sumsFile))
		if err != nil {
			t.Fatal(err)
		}
		defer sums.Close()
		c.Stdin = sums
		return c.Run()
	}
	if err := sign(t.Context(), folder, in("ours")); err == nil {
		typed(t, folder, documentedCheck(t, "ssh-keygen -Y verify"))
	}
	if err := os.Remove(in(sumsFile + ".sig")); err != nil {
		t.Fatal(err)
	}
	if err := sign(t.Context(), folder, in("ours")); err != nil || verify(sshNamespace) != nil || verify("git") == nil {
		t.Errorf("signed from the file: %v; verified: %v, for another purpose: %v; want no errors but the last", err,
			verify(sshNamespace), verify("git"))
	}
	if err := os.Remove(in(sumsFile + ".sig")); err != nil {
		t.Fatal(err)
	}
	agent := prints(t, "ssh-agent", "sh", "-c", `ssh-add -q "$1" && rm "$1" &&
		ssh-keygen -Y sign -n "$3" -f "$1.pub" "$2"`, "sh", in("ours"), in(sumsFile), sshNamespace)
	if err := verify(sshNamespace); err != nil {
		t.Errorf("signed by the agent: %v: %s, want that it verifies", err, agent)
	}
	if err := os.WriteFile(in(sumsFile), []byte("01  program\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if verify(sshNamespace) == nil {
		t.Error("ssh-keygen believes other digests, want not")
	}
}

// The version of a candidate is below that of its release for both package managers, which take it of the
// tag.
func TestTheVersionIsThatOfTheTag(t *testing.T) {
	t.Parallel()
	need(t, "git")
	folder := t.TempDir()
	b := builder{folder: folder, at: moment}
	git := func(args ...string) {
		t.Helper()
		prints(t, append([]string{"git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "a")
	before, err := b.version(t.Context())
	if err != nil || !strings.HasPrefix(before, "0.0.0~20231114.") {
		t.Errorf("before a tag the version is %q, %v, want 0.0.0 with the day and the hash", before, err)
	}
	git("tag", "-a", "v1.0.0-rc.1", "-m", "a")
	if got, err := b.version(t.Context()); err != nil || got != "1.0.0~rc.1" {
		t.Errorf("the version is %q, %v, want 1.0.0~rc.1", got, err)
	}
}

// A program says the tag that it was built at, as its packages do, also where the release is made in a work tree of
// git, from which alone Go writes no version.
func TestAProgramSaysTheTag(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it compiles the runtime")
	}
	need(t, "git")
	root := t.TempDir()
	source, tree := filepath.Join(root, "source"), filepath.Join(root, "tree")
	if err := os.Mkdir(source, 0o755); err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) {
		t.Helper()
		prints(t, append([]string{"git", "-C", source, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
	}
	for file, text := range map[string]string{"go.mod": "module example.org/small\n\ngo 1.26\n",
		"main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(source, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "a")
	git("tag", "-a", "v1.0.0-rc.1", "-m", "a")
	git("worktree", "add", "-q", "--detach", tree)
	b := builder{folder: filepath.Join(root, "clone"), toolchain: "local", at: moment}
	if err := b.clone(t.Context(), tree); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(root, "small")
	if err := b.program(t.Context(), ".", "amd64", to); err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := b.version(t.Context())
	if info.Main.Version != "v1.0.0-rc.1" || err != nil || packed != "1.0.0~rc.1" {
		t.Errorf("the program says %q and its packages %q, %v, want v1.0.0-rc.1 and 1.0.0~rc.1", info.Main.Version, packed,
			err)
	}
}

// documentedCheck returns the commands of docs/operations/releases.md that begin so.
func documentedCheck(t *testing.T, begins string) string {
	t.Helper()
	page := string(must(t, "../docs/operations/releases.md"))
	_, block, has := strings.Cut(page, "```sh\n"+begins)
	if !has {
		t.Fatalf("the page has no commands that begin with %s, want some", begins)
	}
	block, _, _ = strings.Cut(block, "```")
	return begins + block
}

// typed has a shell run commands in a folder.
func typed(t *testing.T, folder, commands string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-euc", commands)
	c.Dir = folder
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%s: %v: %s, want success", commands, err, out)
	}
}

func must(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
