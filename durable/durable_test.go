package durable

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

func TestSyncFolder(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := SyncFolder(folder); err != nil {
		t.Error(err)
	}
	missing := filepath.Join(folder, "missing")
	if err := SyncFolder(missing); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Errorf("the error is %v, want one that names %s", err, missing)
	}
}
