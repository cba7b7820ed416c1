package qr_test

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bursar/bursar/pay/paytest"
	"github.com/bursar/bursar/pay/qr"
)

// texts are of every kind that a page shows, and the longest.
var texts = []string{
	"TJRabPrwbZy45sbavfcjinPJC18kjpRTv8",
	"rU6K7V3Po4snVhBBaU29sesqs2qTQJWDw1",
	"bitcoin:bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4?amount=0.0123&label=Fern%20%26%20Fig",
	"litecoin:ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9?amount=1",
	"ethereum:0x52908400098527886E0F7030069857D2E4169EE7@56?value=1000000000000000001",
	"ethereum:0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359@137/transfer?address=0x52908400098527886E0F7030069857D2E4169EE7" +
		"&uint256=1500000",
	"solana:7S3P4HxJpyyigGzodYwHtCxZyUQe9JiBMHyRWXArAaKv?amount=2&spl-token=EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
	"xrpl://rU6K7V3Po4snVhBBaU29sesqs2qTQJWDw1?amount=25.13&dt=4294967295",
	"bitcoin:bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4?label=" + strings.Repeat("%D0%A4", 60),
}

// Debian's zbarimg reads every code. One process reads them all.
func TestEveryCodeIsRead(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs zbarimg")
	}
	if _, err := exec.LookPath("zbarimg"); err != nil {
		t.Fatalf("zbarimg is missing: run go run ./test -install zbar: %v", err)
	}
	folder := t.TempDir()
	args := []string{"--quiet", "--raw", "-Sdisable", "-Sqrcode.enable"}
	for i, text := range texts {
		svg, err := qr.SVG(text)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(folder, fmt.Sprintf("%02d.png", i))
		save(t, name, svg)
		args = append(args, name)
	}
	for i, text := range texts {
		lines, err := qr.Lines(text)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(folder, fmt.Sprintf("terminal%02d.png", i))
		write(t, name, terminal(lines))
		args = append(args, name)
	}
	out, err := exec.CommandContext(t.Context(), "zbarimg", args...).Output()
	if err != nil {
		t.Fatalf("zbarimg: %v", err)
	}
	got := strings.Split(strings.TrimSpace(string(out)), "\n")
	if want := strings.Join(slices.Concat(texts, texts), "\n"); strings.Join(got, "\n") != want {
		t.Errorf("zbarimg reads\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

var rectangle = regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1h-(\d+)z`)

// save draws an image as a browser does.
func save(t *testing.T, name, svg string) {
	t.Helper()
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(paytest.WritePicture(file, svg), file.Close()); err != nil {
		t.Fatal(err)
	}
}

// terminal draws characters as a dark terminal does, each eight pixels high and four wide.
func terminal(lines []string) *image.Gray {
	const scale = 4
	picture := image.NewGray(image.Rect(0, 0, len([]rune(lines[0]))*scale, len(lines)*2*scale))
	for y, line := range lines {
		for x, block := range []rune(line) {
			for dy := range 2 * scale {
				upper := dy < scale
				if block == '█' || block == '▀' && upper || block == '▄' && !upper {
					for dx := range scale {
						picture.SetGray(x*scale+dx, y*2*scale+dy, color.Gray{255})
					}
				}
			}
		}
	}
	return picture
}

func write(t *testing.T, name string, picture image.Image) {
	t.Helper()
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(file, picture); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

func sizeOf(t *testing.T, svg string) int {
	t.Helper()
	found := regexp.MustCompile(`viewBox="0 0 (\d+) (\d+)"`).FindStringSubmatch(svg)
	if found == nil || found[1] != found[2] {
		t.Fatalf("the image is %.100q, want a square", svg)
	}
	size, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return size
}

// Four modules around a code are white, whatever it holds.
func TestTheQuietZone(t *testing.T) {
	t.Parallel()
	for _, text := range texts {
		svg, err := qr.SVG(text)
		if err != nil {
			t.Fatal(err)
		}
		size := sizeOf(t, svg)
		for _, found := range rectangle.FindAllStringSubmatch(svg, -1) {
			x, _ := strconv.Atoi(found[1])
			y, _ := strconv.Atoi(found[2])
			wide, _ := strconv.Atoi(found[3])
			if x < qr.Quiet || y < qr.Quiet || x+wide > size-qr.Quiet || y >= size-qr.Quiet || found[3] != found[4] {
				t.Fatalf("%s reaches into the quiet zone of %q, want %d modules of white", found[0], text, qr.Quiet)
			}
		}
	}
}

func TestATextThatIsTooLong(t *testing.T) {
	t.Parallel()
	if _, err := qr.SVG(strings.Repeat("x", qr.MaxText)); err != nil {
		t.Errorf("%d bytes: %v, want a code", qr.MaxText, err)
	}
	if _, err := qr.SVG(strings.Repeat("x", qr.MaxText+1)); err == nil {
		t.Errorf("%d bytes make a code, want an error", qr.MaxText+1)
	}
}
