package ceremony

import (
	"fmt"
	"strings"

	"rsc.io/qr"
)

// quiet is the margin around a code, in modules (ISO/IEC 18004).
const quiet = 4

// Code is a frame as a QR code.
type Code struct{ code *qr.Code }

// Draw makes the QR code of a frame, with the lowest of four levels of correction: a screen is flat and clean.
func Draw(frame string) (Code, error) {
	code, err := qr.Encode(frame, qr.L)
	if err != nil {
		return Code{}, fmt.Errorf("draw a QR code: %w", err)
	}
	return Code{code}, nil
}

// PNG returns a picture of the code.
func (c Code) PNG() []byte { return c.code.PNG() }

// SVG returns a drawing of the code, which can be printed at any size.
func (c Code) SVG() string {
	side := c.code.Size + 2*quiet
	var path strings.Builder
	for y := range c.code.Size {
		for x := range c.code.Size {
			if c.code.Black(x, y) {
				fmt.Fprintf(&path, "M%d,%dh1v1h-1z", x+quiet, y+quiet)
			}
		}
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" shape-rendering="crispEdges">`+
		`<rect width="%[1]d" height="%[2]d" fill="#fff"/><path d="%[3]s"/></svg>`+"\n", side, side, path.String())
}

// Terminal returns the code in characters, two modules above each other in one: light ones are blocks, so that it can
// be read on a dark terminal.
func (c Code) Terminal() string {
	blocks := [4]string{" ", "▄", "▀", "█"} // by whether the upper and the lower module are light
	var text strings.Builder
	for y := -quiet; y < c.code.Size+quiet; y += 2 {
		for x := -quiet; x < c.code.Size+quiet; x++ {
			which := 0
			if !c.code.Black(x, y) {
				which += 2
			}
			if !c.code.Black(x, y+1) {
				which++
			}
			text.WriteString(blocks[which])
		}
		text.WriteString("\n")
	}
	return text.String()
}
