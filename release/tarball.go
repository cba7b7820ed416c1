package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// tarballDocuments are the files of the repository that are in an archive, under their last name.
var tarballDocuments = []string{"LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md", "docs/operations/bursar.service",
	"docs/operations/bursar-signer.service", "docs/operations/signer.example.yaml", "docs/operations/compose.yaml"}

// tarball makes an archive for machines without a package manager that we make packages for: every program of one
// architecture, with its units, an example, compose.yaml, manual pages and completion, below one folder. It returns the
// archive's name.
func (b builder) tarball(out, architecture, version string) (string, error) {
	folder := "bursar-" + tagged(version) + "-linux-" + architecture
	list, err := b.tarballFiles(out, architecture)
	if err != nil {
		return "", err
	}
	var content bytes.Buffer
	w := tar.NewWriter(&content)
	for _, f := range list {
		err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: folder + "/" + f.path, Mode: int64(f.mode.Perm()),
			Size: int64(len(f.content)), ModTime: b.at, Format: tar.FormatUSTAR})
		if err != nil {
			return "", err
		}
		if _, err := w.Write(f.content); err != nil {
			return "", err
		}
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	packed, err := zipped(content.Bytes(), gzip.BestSpeed)
	if err != nil {
		return "", err
	}
	to := filepath.Join(out, folder+".tar.gz")
	if err := os.WriteFile(to, packed, 0o644); err != nil {
		return "", err
	}
	return filepath.Base(to), os.Chtimes(to, b.at, b.at)
}

// tarballFiles are what is in the archive, in the order of their paths in it.
func (b builder) tarballFiles(out, architecture string) (list []file, err error) {
	read := func(path string, mode os.FileMode, from string) {
		content, e := os.ReadFile(from)
		if e != nil && err == nil {
			err = e
		}
		list = append(list, file{path: path, mode: mode, content: content})
	}
	for _, program := range programs {
		read(program, 0o755, filepath.Join(out, program+"-linux-"+architecture))
	}
	for _, name := range tarballDocuments {
		read(filepath.Base(name), 0o644, filepath.Join(b.folder, name))
	}
	for shell := range completionPaths {
		read("completion/bursar."+shell, 0o644, filepath.Join(b.folder, "cmd/bursar/completion/bursar."+shell))
	}
	if err != nil {
		return nil, fmt.Errorf("what is in the archive: %w", err)
	}
	for _, program := range programs {
		page, err := manual(out, program)
		if err != nil {
			return nil, err
		}
		list = append(list, file{path: program + ".1.gz", mode: 0o644, content: page})
	}
	slices.SortFunc(list, func(a, b file) int { return cmp.Compare(a.path, b.path) })
	return list, nil
}
