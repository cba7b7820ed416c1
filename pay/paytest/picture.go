package paytest

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"regexp"
	"strconv"
)

const modulePixels = 4 // a side of a QR code's module

var (
	viewBox = regexp.MustCompile(`viewBox="0 0 (\d+) (\d+)"`)
	bar     = regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1h-(\d+)z`)
)

// WritePicture writes a QR code of the page as PNG, drawn as a browser draws it, four pixels for a module. Errors: svg
// is no image of package qr, or w fails.
func WritePicture(w io.Writer, svg string) error {
	found := viewBox.FindStringSubmatch(svg)
	if found == nil || found[1] != found[2] {
		return fmt.Errorf("the image is %.100q, want a square", svg)
	}
	size, err := strconv.Atoi(found[1])
	if err != nil {
		return err
	}
	picture := image.NewGray(image.Rect(0, 0, size*modulePixels, size*modulePixels))
	for i := range picture.Pix {
		picture.Pix[i] = 255
	}
	for _, found := range bar.FindAllStringSubmatch(svg, -1) {
		var n [3]int
		for i := range n {
			if n[i], err = strconv.Atoi(found[i+1]); err != nil {
				return err
			}
		}
		for y := range modulePixels {
			for x := range n[2] * modulePixels {
				picture.SetGray(n[0]*modulePixels+x, n[1]*modulePixels+y, color.Gray{})
			}
		}
	}
	return png.Encode(w, picture)
}
