package browser

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

var update = flag.Bool("update", false, "take the pictures of docs/payer-page again")

const pictureFolder = "../../docs/payer-page"

// pictured are the pages in the documents: one of each state.
var pictured = []string{"choose", "waiting", "partial", "rate_ended", "no_rate", "confirming", "paid", "late",
	"expired", "cancelled", "expired_partial"}

// codesAreRead has zbarimg read every QR code as the browser drew it, in one process.
func (p *payer) codesAreRead(t *testing.T) {
	t.Helper()
	folder := t.TempDir()
	args := []string{"--quiet", "--raw", "-Sdisable", "-Sqrcode.enable"}
	var want []string
	p.dark(true) // a code stays dark on white
	for _, name := range p.Names() {
		if !strings.HasPrefix(name, "waiting-") {
			continue
		}
		for _, form := range []string{"address", "link"} {
			p.visit(name, "?form="+form)
			shot := result(p, chromedp.Screenshot(chromedp.CSS(".code-box")))
			file := filepath.Join(folder, name+"-"+form+".png")
			if err := os.WriteFile(file, shot, 0o600); err != nil {
				t.Fatal(err)
			}
			holds := eval[string](p, "document.querySelector('.wallet')?.getAttribute('href') ?? ''")
			if form == "address" || holds == "" {
				holds = eval[string](p, "document.getElementById('copy-address').dataset.copy")
			}
			args, want = append(args, file), append(want, holds)
		}
	}
	p.dark(false)
	out, err := exec.CommandContext(t.Context(), "zbarimg", args...).Output()
	if err != nil {
		t.Fatalf("zbarimg, which go run ./test -install zbar installs: %v", err)
	}
	if got := strings.TrimSpace(string(out)); got != strings.Join(want, "\n") {
		t.Errorf("zbarimg reads\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// pictures compares what the pictures of the documents were taken of with the pages of today. Fonts differ from machine
// to machine, and so do pictures: what is compared is what the browser was given.
func (p *payer) pictures(t *testing.T) {
	t.Helper()
	p.Reset()
	var list strings.Builder
	for _, name := range pictured {
		fmt.Fprintf(&list, "%x %s.png\n", p.digest(name), name)
		if *update {
			p.visit(name, "")
			shot := result(p, chromedp.FullScreenshot(100))
			if err := os.WriteFile(filepath.Join(pictureFolder, name+".png"), shot, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	file := filepath.Join(pictureFolder, "pictures.txt")
	if *update {
		if err := os.WriteFile(file, []byte(list.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if was, err := os.ReadFile(file); err != nil || string(was) != list.String() {
		t.Errorf("the pictures in docs/payer-page are of other pages than today's (%v), want the same: "+
			"in sandbox, go test ./browser -update", err)
	}
}

var asset = regexp.MustCompile(`/pay/assets/page-[0-9a-f]+\.css`)

// digest is of a page and its style, whose name changes with it.
func (p *payer) digest(name string) [4]byte {
	p.Helper()
	text := p.get("/pay/" + p.Token(name).String())
	sum := sha256.Sum256([]byte(text + p.get(asset.FindString(text))))
	return [4]byte(sum[:4])
}

func (p *payer) get(path string) string {
	p.Helper()
	r, err := http.NewRequestWithContext(p.Context(), http.MethodGet, p.url+path, http.NoBody)
	if err != nil {
		p.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		p.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		p.Fatal(err)
	}
	return string(text)
}
