package ceremony

import (
	"bytes"
	"compress/flate"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A frame is the text of one QR code: BURSAR1/NUMBER/OF/CHECKSUM/DATA, all of the characters that a QR code keeps in
// five and a half bits each. The checksum is that of the whole text, so that frames of two bundles are never joined.
const (
	frameMark = "BURSAR1"
	frameData = 500 // characters of a frame: a code of 81 modules, which the camera of a telephone reads from a screen
	maxFrames = 20_000
	sumDigits = 16
)

// ErrFrame is wrapped by errors of malformed or mismatched frames.
var ErrFrame = errors.New("not a frame of a bundle")

var frameEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// Frames returns the frames of a bundle's text. Any order of them gives it back.
func Frames(text string) ([]string, error) {
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(w, text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	data := frameEncoding.EncodeToString(packed.Bytes())
	of := (len(data) + frameData - 1) / frameData
	if of > maxFrames || len(text) > MaxBundle {
		return nil, fmt.Errorf("%w: the bundle would need %d frames, at most %d", ErrFrame, of, maxFrames)
	}
	frames := make([]string, of)
	for i := range frames {
		frames[i] = fmt.Sprintf("%s/%d/%d/%s/%s", frameMark, i+1, of, frameSum(text),
			data[i*frameData:min((i+1)*frameData, len(data))])
	}
	return frames, nil
}

func frameSum(text string) string { return strings.ToUpper(checksum(text)[:sumDigits]) }

// Joiner puts the frames of one bundle together. The zero value is ready.
type Joiner struct {
	sum  string
	data []string
	left int
}

// Add adds a frame, in any order; one that is there already changes nothing. It returns how many are missing. A line
// that is no frame, or one of another bundle, is an ErrFrame and changes nothing.
func (j *Joiner) Add(line string) (missing int, err error) {
	line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "QR-Code:")) // as zbarimg writes it
	parts := strings.Split(line, "/")
	if len(parts) != 5 || parts[0] != frameMark || len(parts[3]) != sumDigits || parts[4] == "" ||
		len(parts[4]) > frameData {
		return j.left, fmt.Errorf("%w: %.40q", ErrFrame, line)
	}
	number, err1 := strconv.Atoi(parts[1])
	of, err2 := strconv.Atoi(parts[2])
	if err1 != nil || err2 != nil || number < 1 || number > of || of > maxFrames {
		return j.left, fmt.Errorf("%w: number %.10q of %.10q", ErrFrame, parts[1], parts[2])
	}
	if j.data == nil {
		j.sum, j.data, j.left = parts[3], make([]string, of), of
	}
	if parts[3] != j.sum || of != len(j.data) {
		return j.left, fmt.Errorf("%w: the frame is of another bundle", ErrFrame)
	}
	if j.data[number-1] == "" {
		j.data[number-1] = parts[4]
		j.left--
	}
	return j.left, nil
}

// Text returns the text of a bundle whose frames are all there.
func (j *Joiner) Text() (string, error) {
	if j.data == nil || j.left > 0 {
		return "", fmt.Errorf("%w: %d of %d are missing", ErrFrame, j.left, len(j.data))
	}
	packed, err := frameEncoding.DecodeString(strings.Join(j.data, ""))
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrFrame, err)
	}
	// A few frames could unpack to any length: no more is read than a bundle has.
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), MaxBundle+1))
	if err != nil || len(text) > MaxBundle || frameSum(string(text)) != j.sum {
		return "", fmt.Errorf("%w: together they are not what was shown (%w)", ErrFrame, errors.Join(err, ErrBundle))
	}
	return string(text), nil
}
