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
	"time"

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
	file     *os.File
	state    State
	size     int64     // of what was read: the end of the last whole line
	sum      uint32    // checksum of that
	raises   int       // behind the state
	modified time.Time // when the file was changed last, as far as it was read
	torn     bool      // an unfinished line follows
	replace  bool      // the next raise writes a new state
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errChanged says that a file is not what was read, with lines added.
var errChanged = errors.New("the file was replaced")

// openLog reads a file of marks.
func openLog(path string, flag int) (*log, error) {
	file, err := os.OpenFile(path, flag, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is no file %s", ErrMissing, path)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	l := &log{file: file}
	if err := l.readAll(); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: read %s: %w", ErrUnusable, path, err), file.Close())
	}
	return l, nil
}

func (l *log) readAll() error {
	text, err := l.rest()
	if err != nil {
		return err
	}
	first, lines, whole := bytes.Cut(text, []byte("\n"))
	if err := json.Unmarshal(first, &l.state); err != nil {
		return err
	}
	if l.state.Version != version {
		return fmt.Errorf("the marks have version %d, but this release supports version %d", l.state.Version, version)
	}
	l.size, l.sum, l.replace = int64(len(first)+1), crc32.Checksum(first, castagnoli), !whole
	return l.apply(lines)
}

// readOn reads the lines that others have added to the file. Any error says that it has to be read anew.
func (l *log) readOn(path string) error {
	there, err := os.Stat(path)
	if err != nil {
		return err
	}
	read, err := l.file.Stat()
	switch {
	case err != nil:
		return err
	case !os.SameFile(there, read) || there.Size() < l.size:
		return errChanged
	case there.Size() == l.size && there.ModTime().Equal(l.modified):
		return nil
	case there.Size() == l.size:
		return errChanged
	}
	text, err := l.rest()
	if err != nil {
		return err
	}
	return l.apply(text)
}

// rest returns what is in the file behind what was read.
func (l *log) rest() ([]byte, error) {
	now, err := l.file.Stat()
	if err != nil {
		return nil, err
	}
	if now.Size() > maxFile {
		return nil, fmt.Errorf("the file has %d bytes, more than %d", now.Size(), int64(maxFile))
	}
	l.modified = now.ModTime()
	return io.ReadAll(io.NewSectionReader(l.file, l.size, now.Size()-l.size))
}

// apply makes the raises of lines. The last line may be unfinished: it ends without a line break, or has zeros where
// the file was made longer before its bytes were on the disk, and is overwritten by the next raise.
func (l *log) apply(lines []byte) error {
	l.torn = false
	for len(lines) > 0 {
		line, rest, whole := bytes.Cut(lines, []byte("\n"))
		if l.torn = !whole; l.torn {
			return nil
		}
		text, sum, is := l.check(line)
		if l.torn = !is && len(rest) == 0 && bytes.IndexByte(line, 0) >= 0; l.torn {
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
	return !l.replace && l.raises < maxRaises && l.size < maxFile/2 && by.Stopped == nil
}

// add writes a raise that leads to a state behind what was read, and syncs it.
func (l *log) add(by, to State) error {
	text, err := json.Marshal(by)
	if err != nil {
		return err
	}
	sum := crc32.Update(l.sum, castagnoli, text)
	line := fmt.Appendf(nil, "%08x %s\n", sum, text)
	if l.torn {
		if err := l.file.Truncate(l.size); err != nil {
			return err
		}
	}
	if _, err := l.file.WriteAt(line, l.size); err != nil {
		return err
	}
	if err := l.file.Sync(); err != nil {
		return err
	}
	now, err := l.file.Stat()
	if err != nil {
		return err
	}
	l.state, l.sum, l.raises, l.modified, l.torn = to, sum, l.raises+1, now.ModTime(), false
	l.size += int64(len(line))
	return nil
}

// replaceLog replaces a file by a state, atomically: after a power failure it is the old one or the new one.
func replaceLog(path string, s State) (*log, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	next := path + ".next" // exclusive, under the lock
	file, err := os.OpenFile(next, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = file.Write(append(text, '\n'))
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(next, path)
	}
	if err == nil {
		err = durable.SyncFolder(filepath.Dir(path))
	}
	if err != nil {
		return nil, err
	}
	return openLog(path, os.O_RDWR)
}

func (l *log) close() error { return l.file.Close() }
