package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// The media types of OCI's image specification 1.1.
const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// imageUser is who runs in an image: nobody that the host has.
const imageUser = 65532

type blob struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    map[string]string `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// image writes an image of a program for every architecture, as an archive in the layout of OCI (image-layout.md), and
// returns its name. The image has the program, the authorities of certificates that Mozilla includes and a folder
// for its state, and no shell. It runs as a user without rights.
func (b builder) image(program, out, version string) (string, error) {
	version = tagged(version)
	archive := &layout{at: b.at, blobs: map[string][]byte{}}
	var manifests []blob
	for _, architecture := range architectures {
		content, err := os.ReadFile(filepath.Join(out, program+"-linux-"+architecture))
		if err != nil {
			return "", err
		}
		m, err := archive.manifest(program, architecture, version, content)
		if err != nil {
			return "", err
		}
		manifests = append(manifests, m)
	}
	name := program + "-" + version + ".oci.tar"
	to := filepath.Join(out, name)
	content, err := archive.write(manifests, version)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(to, content, 0o644); err != nil {
		return "", err
	}
	return name, os.Chtimes(to, b.at, b.at)
}

// tagged returns the version of packages as the tag spells it. A tilde is for package managers alone: neither a tag nor
// a reference of an image may have one.
func tagged(version string) string { return strings.ReplaceAll(version, "~", "-") }

// layout gathers the blobs of an image.
type layout struct {
	at    time.Time
	blobs map[string][]byte
	order []string
}

func (l *layout) add(kind string, content []byte) blob {
	sum := sha256.Sum256(content)
	name := hex.EncodeToString(sum[:])
	if l.blobs[name] == nil {
		l.blobs[name] = content
		l.order = append(l.order, name)
	}
	return blob{MediaType: kind, Digest: "sha256:" + name, Size: len(content)}
}

func (l *layout) addJSON(kind string, value any) (blob, error) {
	content, err := json.Marshal(value)
	return l.add(kind, content), err
}

// manifest adds the image of one architecture.
func (l *layout) manifest(program, architecture, version string, content []byte) (m blob, err error) {
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	state := "var/lib/" + program + "/"
	trusted := authorities()
	for _, h := range []tar.Header{
		{Typeflag: tar.TypeReg, Name: "usr/bin/" + program, Mode: 0o755, Size: int64(len(content))},
		{Typeflag: tar.TypeReg, Name: authoritiesFile, Mode: 0o644, Size: int64(len(trusted))},
		{Typeflag: tar.TypeDir, Name: state, Mode: 0o700, Uid: imageUser, Gid: imageUser},
		{Typeflag: tar.TypeDir, Name: "run/bursar/", Mode: 0o700, Uid: imageUser, Gid: imageUser}, // the signer's socket
		{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777},
	} {
		h.ModTime, h.Format = l.at, tar.FormatUSTAR
		if err := w.WriteHeader(&h); err != nil {
			return m, err
		}
		body := map[string][]byte{authoritiesFile: trusted, "usr/bin/" + program: content}[h.Name]
		if _, err := w.Write(body); err != nil {
			return m, err
		}
	}
	if err := w.Close(); err != nil {
		return m, err
	}
	packed, err := zipped(layer.Bytes(), gzip.BestSpeed)
	if err != nil {
		return m, err
	}
	sum := sha256.Sum256(layer.Bytes())
	config, err := l.addJSON(typeConfig, map[string]any{
		"created": l.at.Format(time.RFC3339), "architecture": architecture, "os": "linux",
		"config": map[string]any{
			"User": fmt.Sprint(imageUser), "Entrypoint": []string{"/usr/bin/" + program}, "WorkingDir": "/" + state,
			"Volumes": map[string]any{"/" + state: struct{}{}},
			"Labels":  map[string]string{"org.opencontainers.image.version": version},
		},
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + hex.EncodeToString(sum[:])}},
		"history": []any{map[string]any{"created": l.at.Format(time.RFC3339), "created_by": "go run ./release"}},
	})
	if err != nil {
		return m, err
	}
	m, err = l.addJSON(typeManifest, map[string]any{"schemaVersion": 2, "mediaType": typeManifest, "config": config,
		"layers": []blob{l.add(typeLayer, packed)}})
	m.Platform = map[string]string{"architecture": architecture, "os": "linux"}
	return m, err
}

// authoritiesFile is where Go looks for the authorities of certificates.
const authoritiesFile = "etc/ssl/certs/ca-certificates.crt"

// authorities are those that Mozilla includes without a constraint that the file's form cannot say, as PEM.
func authorities() []byte {
	var b bytes.Buffer
	for r := range bundle.Roots() {
		if r.Constraint == nil {
			b.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.Certificate}))
		}
	}
	return b.Bytes()
}

func zipped(content []byte, level int) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(content); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

// write returns the archive: an index of the manifests, and every blob under its digest.
func (l *layout) write(manifests []blob, version string) ([]byte, error) {
	all, err := l.addJSON(typeIndex, map[string]any{"schemaVersion": 2, "mediaType": typeIndex, "manifests": manifests})
	if err != nil {
		return nil, err
	}
	all.Annotations = map[string]string{"org.opencontainers.image.ref.name": version}
	index, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": typeIndex, "manifests": []blob{all}})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	put := func(name string, content []byte) {
		if err == nil {
			err = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(content)),
				ModTime: l.at, Format: tar.FormatUSTAR})
		}
		if err == nil {
			_, err = w.Write(content)
		}
	}
	put("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`))
	put("index.json", index)
	for _, name := range l.order {
		put("blobs/sha256/"+name, l.blobs[name])
	}
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}
