// Package qr draws QR codes as SVG and in characters, for wallets of payers.
//
// It owns the drawing: level M, a quiet zone of four modules (ISO/IEC 18004, 9.1), dark modules on white whatever the
// colours around it are. Its invariant: an image holds nothing but rectangles, so that it may stand inside a page.
package qr

import (
	"fmt"
	"strings"

	"rsc.io/qr"
)

// Quiet is the width of the white border in modules.
const Quiet = 4

// MaxText is the longest text in bytes that is drawn: a version 40 code of level M holds no more.
const MaxText = 2331

func encode(text string) (*qr.Code, error) {
	if len(text) > MaxText {
		return nil, fmt.Errorf("a QR code holds at most %d bytes, and the text has %d", MaxText, len(text))
	}
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return nil, fmt.Errorf("encode QR code: %w", err)
	}
	return code, nil
}

// Lines returns a code in characters for a terminal, two modules above each other in one. Light modules are ink, so
// that the code can be read where letters are lighter than what is behind them. The error is that of SVG.
func Lines(text string) ([]string, error) {
	code, err := encode(text)
	if err != nil {
		return nil, err
	}
	blocks := [4]string{" ", "▄", "▀", "█"} // by whether the lower and the upper module are light
	var lines []string
	for y := -Quiet; y < code.Size+Quiet; y += 2 {
		var line strings.Builder
		for x := -Quiet; x < code.Size+Quiet; x++ {
			light := 0
			if !code.Black(x, y) {
				light += 2
			}
			if !code.Black(x, y+1) {
				light++
			}
			line.WriteString(blocks[light])
		}
		lines = append(lines, line.String())
	}
	return lines, nil
}

// SVG returns an image of a code that holds a text, without any text of its own. The error says that the text is too
// long.
func SVG(text string) (string, error) {
	code, err := encode(text)
	if err != nil {
		return "", err
	}
	var dark strings.Builder
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			from := x
			for x < code.Size && code.Black(x, y) {
				x++
			}
			if x > from {
				fmt.Fprintf(&dark, "M%d %dh%dv1h-%dz", from+Quiet, y+Quiet, x-from, x-from)
			}
		}
	}
	size := code.Size + 2*Quiet
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" shape-rendering="crispEdges">`+
		`<path fill="#fff" d="M0 0h%dv%dh-%dz"/><path fill="#000" d="%s"/></svg>`, size, size, size, size, size,
		dark.String()), nil
}
