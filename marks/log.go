package marks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bursar/bursar/durable"
)

// The bounds of a file. Its first line is a state: some dozens of numbers, and the journal. It is replaced by a new
// state after maxRaises raises, which take at most a few times the journal's space.
const (
	maxRaises = 512
	maxFile   = 8 * maxJournal
)

// log is a file of marks as far as it was read: a state on the first line, and behind it one raise on each line. The
// line of a raise begins with a checksum of it and of all that is before it, so that none is missing or was changed. A
// line that was not written to its end, because the process was killed or the power failed, was never relied on.
type log struct {
	state  State
	file   os.FileInfo // as it was when it was read or written last
	size   int64       // of what was read: the end of the last whole line
	sum    uint32      // checksum of that
	raises int         // behind the state
	torn   bool        // an unfinished line follows, or the state's own line has no end
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errChanged says that a file is not what was read, with lines added.
var errChanged = errors.New("the file was replaced")

// openFile opens a file of marks. The error is ErrMissing or ErrUnusable.
func openFile(path string, flag int) (*os.File, error) {
	file, err := os.OpenFile(path, flag, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is no file %s", ErrMissing, path)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	return file, nil
}

// readLog reads a file of marks.
func readLog(file *os.File) (*log, error) {
	l := &log{}
	text, err := l.rest(file)
	if err != nil {
		return nil, err
	}
	first, lines, whole := bytes.Cut(text, []byte("\n"))
	if err := json.Unmarshal(first, &l.state); err != nil {
		return nil, err
	}
	if l.state.Version != version {
		return nil, fmt.Errorf("the marks have version %d, but this release supports version %d", l.state.Version, version)
	}
	l.size, l.sum = int64(len(first)+1), crc32.Checksum(first, castagnoli)
	if err := l.apply(lines); err != nil {
		return nil, err
	}
	l.torn = l.torn || !whole
	return l, nil
}

// readOn reads the lines that others have added to the file. Any error says that it has to be read from its beginning.
func (l *log) readOn(file *os.File) error {
	now, err := file.Stat()
	switch {
	case err != nil:
		return err
	case l.file == nil || l.torn || !os.SameFile(now, l.file) || now.Size() < l.size:
		return errChanged
	case now.Size() == l.size && now.ModTime().Equal(l.file.ModTime()):
		return nil
	case now.Size() == l.size:
		return errChanged
	}
	text, err := l.rest(file)
	if err != nil {
		return err
	}
	return l.apply(text)
}

// rest returns what is in the file behind what was read.
func (l *log) rest(file *os.File) ([]byte, error) {
	now, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if now.Size() > maxFile {
		return nil, fmt.Errorf("the file has %d bytes, more than %d", now.Size(), int64(maxFile))
	}
	l.file = now
	return io.ReadAll(io.NewSectionReader(file, l.size, now.Size()-l.size))
}

// apply makes the raises of lines. The last line may be unfinished: it ends without a line break, or has zeros where
// the file was made longer before its bytes were on the disk. It was never relied on if the disk does what it says, but
// a copy of the file that was cut off looks the same: so the journal does not count as complete then.
func (l *log) apply(lines []byte) error {
	for len(lines) > 0 {
		line, rest, whole := bytes.Cut(lines, []byte("\n"))
		text, sum, is := l.check(line)
		if !whole || !is && len(rest) == 0 && bytes.IndexByte(line, 0) >= 0 {
			l.torn = true
			l.state.Since = higher(l.state.Since, l.state.Signed)
			return nil
		}
		if !is {
			return fmt.Errorf("the raise at byte %d was changed, or what is before it", l.size)
		}
		var by State
		if err := json.Unmarshal(text, &by); err != nil {
			return fmt.Errorf("the raise at byte %d: %w", l.size, err)
		}
		l.state, l.sum = l.state.Raised(by), sum
		l.size, l.raises = l.size+int64(len(line)+1), l.raises+1
		lines = rest
	}
	return nil
}

// check returns the raise on a line, and the checksum up to its end; false if it is not the line's.
func (l *log) check(line []byte) (text []byte, sum uint32, is bool) {
	before, text, _ := bytes.Cut(line, []byte(" "))
	sum = crc32.Update(l.sum, castagnoli, text)
	return text, sum, string(before) == fmt.Sprintf("%08x", sum)
}

// takes reports whether a raise is added to the file, instead of replacing the file by a new state. When a process
// stops, it leaves a state alone, which earlier versions read too.
func (l *log) takes(by State) bool {
	return !l.torn && l.raises < maxRaises && l.size < maxFile/2 && by.Stopped == nil
}

// add writes a raise that leads to a state behind what was read, and syncs it.
func (l *log) add(file *os.File, by, to State) error {
	text, err := json.Marshal(by)
	if err != nil {
		return err
	}
	sum := crc32.Update(l.sum, castagnoli, text)
	line := fmt.Appendf(nil, "%08x %s\n", sum, text)
	if _, err := file.WriteAt(line, l.size); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	now, err := file.Stat()
	if err != nil {
		return err
	}
	l.state, l.file, l.sum, l.raises = to, now, sum, l.raises+1
	l.size += int64(len(line))
	return nil
}

// writeState replaces a file by a state.
func writeState(path string, s State) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	next := path + ".next" // exclusive, under the lock
	file, err := os.OpenFile(next, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(next, path)
	}
	if err == nil {
		err = durable.SyncFolder(filepath.Dir(path))
	}
	return err
}
