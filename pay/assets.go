package pay

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image/png"
	"net/http"
	"strings"
)

// Brand is how the shop shows itself. The colours are #rrggbb, and their contrast was checked.
type Brand struct {
	Name     string
	Logo     []byte // PNG; nil: none
	Accent   string
	OnAccent string
	Frames   []string // origins whose pages may show the page in a frame; empty: none
}

// Limits of a logo.
const (
	MaxLogo     = 256 << 10 // bytes
	maxLogoSide = 2048      // pixels
)

// asset is a file beside the page. Its name changes with its contents, so that browsers may keep it.
type asset struct {
	kind string
	body []byte
}

// assets are the files beside the page by their names.
type assets struct {
	Style, Script, Logo string // their paths; Logo may be empty
	files               map[string]asset
}

func newAssets(b Brand) (a assets, err error) {
	a.files = map[string]asset{}
	style, err := files.ReadFile("page.css")
	if err != nil {
		return a, err
	}
	script, err := files.ReadFile("page.js")
	if err != nil {
		return a, err
	}
	colours := fmt.Sprintf(":root{--accent:%s;--on-accent:%s}\n", b.Accent, b.OnAccent)
	a.Style = a.add("page", ".css", "text/css; charset=utf-8", append([]byte(colours), style...))
	a.Script = a.add("page", ".js", "text/javascript; charset=utf-8", script)
	if b.Logo == nil {
		return a, nil
	}
	if len(b.Logo) > MaxLogo {
		return a, fmt.Errorf("the logo has more than %d bytes", MaxLogo)
	}
	size, err := png.DecodeConfig(bytes.NewReader(b.Logo))
	if err != nil || size.Width > maxLogoSide || size.Height > maxLogoSide {
		return a, errors.New("the logo is not a PNG of at most 2048 by 2048 pixels")
	}
	a.Logo = a.add("logo", ".png", "image/png", b.Logo)
	return a, nil
}

func (a *assets) add(name, ending, kind string, body []byte) (path string) {
	sum := sha256.Sum256(body)
	name += "-" + hex.EncodeToString(sum[:8]) + ending
	a.files[name] = asset{kind: kind, body: body}
	return "/pay/assets/" + name
}

func (a assets) serve(w http.ResponseWriter, r *http.Request, name string) {
	found, known := a.files[name]
	if !known || r.Method != http.MethodGet && r.Method != http.MethodHead || strings.Contains(name, "/") {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", found.kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(found.body)
}
