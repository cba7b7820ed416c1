package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bursar/bursar/durable"
)

// marker is the content of a marker file. People read it; that the file is there is what freezes.
type marker struct {
	Freeze
	Mark string `json:"mark"` // random: distinguishes this marker from a later one
}

// maxMarker bounds what is read of a marker.
const maxMarker = 64 << 10

// mark makes a marker file. It freezes as soon as the file is there, before the disk has it.
func mark(path string, f Freeze) error {
	text, err := json.Marshal(marker{f, newInstance()})
	if err != nil {
		return fmt.Errorf("freeze: %w", err)
	}
	if err := replace(path, text); err == nil {
		return nil
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600) // a full disk may still take a name
	if err == nil {
		now := time.Now() // where there is one of an earlier freeze, this is a later one: see markOf
		err = errors.Join(os.Chtimes(path, now, now), file.Sync(), file.Close(), durable.SyncFolder(filepath.Dir(path)))
	}
	if err != nil {
		return fmt.Errorf("freeze: make the marker file: %w", err)
	}
	return nil
}

// replace gives a file its content as a whole, and then makes it durable.
func replace(path string, text []byte) error {
	folder := filepath.Dir(path)
	file, err := os.CreateTemp(folder, filepath.Base(path)+".")
	if err != nil {
		return err
	}
	if _, err = file.Write(text); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	return durable.SyncFolder(folder)
}

// asideSuffix is that of a marker which a thaw looks at. It freezes too: after a crash it is all that is left of it.
const asideSuffix = ".thawing"

// marked returns what a marker file says. One without readable content freezes too.
func marked(path string) (f Freeze, is bool, err error) {
	for _, one := range []string{path, path + asideSuffix, path} { // it may be put back at the same time
		if f, is, err = markedBy(one); is || err != nil {
			return f, is, err
		}
	}
	return f, false, nil
}

func markedBy(path string) (f Freeze, is bool, err error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, false, nil
	}
	if err != nil {
		return f, false, fmt.Errorf("look for the signer's marker file: %w", err)
	}
	m, _ := readMarker(path)
	if m.Why == "" {
		m.Freeze = Freeze{At: info.ModTime().UTC(), Who: "somebody", Why: "the file " + path + " is there"}
	}
	return m.Freeze, true, nil
}

func readMarker(path string) (m marker, err error) {
	file, err := os.Open(path)
	if err != nil {
		return m, err
	}
	defer file.Close()
	text := make([]byte, maxMarker)
	n, err := file.Read(text)
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(text[:n], &m)
}

// markOf names a marker file by its content and by when it was written last: somebody who touches it freezes too. It is
// empty where there is none.
func markOf(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	m, err := readMarker(path)
	if err != nil {
		m.Mark = "" // without readable content there is none
	}
	return fmt.Sprintf("%s %d", m.Mark, info.ModTime().UnixNano())
}

// unmark removes the marker that has a name of markOf. One that was made since stays: then the error says so. The
// caller sees to it that nothing leaves meanwhile.
func unmark(path, mark string) error {
	aside := path + asideSuffix
	err := os.Rename(path, aside)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("thaw: %w", err)
	}
	if markOf(aside) != mark {
		err := errors.New("thaw: the signer was frozen again in the meantime")
		return errors.Join(err, os.Rename(aside, path))
	}
	if err := os.Remove(aside); err != nil {
		return fmt.Errorf("thaw: %w", err)
	}
	return durable.SyncFolder(filepath.Dir(path))
}

// gather puts back the marker that a thaw put aside and that a crash left there. Where another one was made since, that
// freezes, and the one aside is entered into the state instead.
func gather(path string, enter func(f Freeze) error) error {
	aside := path + asideSuffix
	f, is, err := markedBy(aside)
	if !is || err != nil {
		return err
	}
	switch err := os.Link(aside, path); { // which replaces nothing
	case errors.Is(err, fs.ErrExist):
		if err := enter(f); err != nil {
			return err
		}
	case err != nil:
		return fmt.Errorf("thaw: %w", err)
	}
	if err := os.Remove(aside); err != nil {
		return fmt.Errorf("thaw: %w", err)
	}
	return durable.SyncFolder(filepath.Dir(path))
}
