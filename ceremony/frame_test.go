package ceremony_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar/ceremony"
)

func join(t *testing.T, lines []string) (string, error) {
	t.Helper()
	var j ceremony.Joiner
	for _, line := range lines {
		if _, err := j.Add(line); err != nil {
			t.Fatal(err)
		}
	}
	return j.Text()
}

func framesOf(t *testing.T, text string) []string {
	t.Helper()
	frames, err := ceremony.Frames(text)
	if err != nil {
		t.Fatal(err)
	}
	return frames
}

func TestFramesAreJoinedInAnyOrder(t *testing.T) {
	t.Parallel()
	b := newHarness(t, twoOfThree)
	text := b.bundle(b.packet()).Text()
	frames := framesOf(t, text)
	if len(frames) < 3 {
		t.Fatalf("got %d frames, want several", len(frames))
	}
	backwards := slices.Clone(frames)
	slices.Reverse(backwards)
	if got, err := join(t, append(backwards, frames[0], "  "+frames[1]+"\r\n")); err != nil || got != text {
		t.Errorf("got %.60q, %v, want the bundle", got, err)
	}
	if _, err := join(t, frames[1:]); !errors.Is(err, ceremony.ErrFrame) {
		t.Errorf("one is missing: got %v, want an ErrFrame", err)
	}
}

func TestOtherFramesAreRefused(t *testing.T) {
	t.Parallel()
	one, two := framesOf(t, strings.Repeat("one", 500)), framesOf(t, strings.Repeat("two", 500))
	var j ceremony.Joiner
	if _, err := j.Add(one[0]); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{two[0], "", "BURSAR1/1/1", strings.Replace(one[0], "/1/", "/0/", 1),
		strings.Replace(one[0], "/1/", "/99999/", 1), strings.Replace(one[0], "BURSAR1", "BURSAR2", 1),
		"BURSAR1/1/99999999/0123456789ABCDEF/AA"} {
		if _, err := j.Add(bad); !errors.Is(err, ceremony.ErrFrame) {
			t.Errorf("%.60q: got %v, want an ErrFrame", bad, err)
		}
	}
	if got, err := j.Text(); err != nil || got != strings.Repeat("one", 500) {
		t.Errorf("got %.20q, %v, want the first text", got, err)
	}
	changed := one[0][:len(one[0])-1] + "A"
	if changed == one[0] {
		changed = one[0][:len(one[0])-1] + "B"
	}
	if _, err := join(t, []string{changed}); !errors.Is(err, ceremony.ErrFrame) {
		t.Errorf("a frame that was read wrongly: got %v, want an ErrFrame", err)
	}
}

// zbarimg of Debian reads the codes as a camera's program does.
func TestAnotherProgramReadsTheCodes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it needs zbarimg")
	}
	program, err := exec.LookPath("zbarimg")
	if err != nil {
		t.Fatal("zbarimg is missing: install it with `apt-get install zbar-tools`")
	}
	b := newHarness(t, twoOfThree)
	text := b.bundle(b.packet()).Text()
	args := []string{"--raw", "--quiet"}
	for i, frame := range framesOf(t, text) {
		code, err := ceremony.Draw(frame)
		if err != nil {
			t.Fatal(err)
		}
		if rows := strings.Split(strings.TrimSpace(code.Terminal()), "\n"); len(rows) < 30 || len(rows) > 60 {
			t.Errorf("frame %d takes %d rows of a terminal, want 30 to 60", i, len(rows))
		}
		path := filepath.Join(t.TempDir(), "frame.png")
		if err := os.WriteFile(path, code.PNG(), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	out, err := exec.CommandContext(t.Context(), program, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := join(t, strings.Split(strings.TrimSpace(string(out)), "\n")); err != nil || got != text {
		t.Errorf("got %.60q, %v, want the bundle", got, err)
	}
}

// The drawing has a square for each dark module, which three corners show.
func TestADrawingShowsTheCode(t *testing.T) {
	t.Parallel()
	code, err := ceremony.Draw(framesOf(t, "a bundle")[0])
	if err != nil {
		t.Fatal(err)
	}
	svg := code.SVG()
	if !strings.HasPrefix(svg, "<svg ") || strings.Count(svg, "M4,") < 7 || strings.Contains(svg, "%!") {
		t.Errorf("got %.200s, want a drawing with the corner's seven modules", svg)
	}
}
