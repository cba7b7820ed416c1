package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// compose is what of compose.yaml has to agree with the images and the documents.
type compose struct {
	Services map[string]composed       `yaml:"services"`
	Volumes  map[string]map[string]any `yaml:"volumes"`
	Secrets  map[string]map[string]any `yaml:"secrets"`
}

type composed struct {
	Image       string            `yaml:"image"`
	User        string            `yaml:"user"`
	Entrypoint  []string          `yaml:"entrypoint"`
	Command     []string          `yaml:"command"`
	Environment map[string]string `yaml:"environment"`
	Secrets     []string          `yaml:"secrets"`
	Volumes     []string          `yaml:"volumes"`
	Ports       []string          `yaml:"ports"`
	ReadOnly    bool              `yaml:"read_only"`
}

// operations returns a file of docs/operations.
func operations(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../docs/operations/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// compose.yaml fits the images as they are made: their own user, the arguments of their units, and nothing to write to
// but folders that belong to that user.
func TestComposeFitsTheImages(t *testing.T) {
	t.Parallel()
	var file compose
	if err := yaml.Unmarshal([]byte(operations(t, "compose.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(file.Services)); !slices.Equal(got, []string{"database", "service", "signer"}) {
		t.Fatalf("the services are %v, want database, service and signer", got)
	}
	for name, program := range map[string]string{"service": "bursar", "signer": "bursar-signer"} {
		s, image := file.Services[name], imageOf(t, program)
		if s.Image != program+":${BURSAR_VERSION:?}" || s.User != "" || s.Entrypoint != nil || !s.ReadOnly {
			t.Errorf("%s is %+v, want the image of %s as it is, read-only", name, s, program)
		}
		_, unit, _ := strings.Cut(operations(t, program+".service"), "\nExecStart=/usr/local")
		unit, _, _ = strings.Cut("/usr"+unit, "\n")
		if got := strings.Join(append(image.entrypoint, s.Command...), " "); got != unit {
			t.Errorf("%s runs %q, want %q as its unit does", name, got, unit)
		}
		file.mounts(t, s, image)
	}
	for name, s := range file.Services {
		for variable, value := range s.Environment {
			secret, isSecret := strings.CutPrefix(value, "/run/secrets/")
			if isSecret && (!slices.Contains(s.Secrets, secret) || file.Secrets[secret] == nil) {
				t.Errorf("%s of %s is %s, want a secret that it has", variable, name, value)
			}
		}
	}
}

// mounts checks what a service mounts.
func (file compose) mounts(t *testing.T, s composed, image madeImage) {
	t.Helper()
	var at []string
	for _, text := range s.Volumes {
		parts := strings.Split(text, ":")
		at = append(at, parts[1])
		switch {
		case strings.HasPrefix(text, "./"):
			if len(parts) != 3 || parts[2] != "ro" || !slices.Contains(s.Command, parts[1]) {
				t.Errorf("%s mounts %s, want its configuration, read-only", s.Image, text)
			}
		case file.Volumes[parts[0]] == nil || !slices.Contains(image.folders, parts[1]):
			t.Errorf("%s mounts %s, want a volume of the file at one of the user's folders, %v", s.Image, text, image.folders)
		}
	}
	for _, folder := range image.folders {
		if !slices.Contains(at, folder) {
			t.Errorf("%s mounts %v, want %s too: nothing else can be written", s.Image, at, folder)
		}
	}
}

// What compose.yaml leaves to the operator is what packages.md shows: users, ports, socket and variables.
func TestComposeIsDocumented(t *testing.T) {
	t.Parallel()
	text, page := operations(t, "compose.yaml"), operations(t, "packages.md")
	for _, want := range []string{
		fmt.Sprintf(`users: ["%d"]`, imageUser),
		"\nlisten: 0.0.0.0:8080\nadmin_listen: 0.0.0.0:8081\n",
		"\nseed_file: /var/lib/bursar-signer/",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("packages.md has no %q", want)
		}
	}
	if got := strings.Count(page, "\n  address: unix:/run/bursar/"); got != 2 {
		t.Errorf("packages.md names the socket in /run/bursar %d times, want for the service and for the signer", got)
	}
	if !strings.Contains(text, `ports: ["127.0.0.1:8080:8080", "127.0.0.1:8081:8081"]`) {
		t.Error("compose.yaml does not publish the ports of packages.md, 8080 and 8081, on this machine")
	}
	known := operations(t, "../operations.md")
	for _, name := range regexp.MustCompile(`BURSAR_[A-Z_]+`).FindAllString(text, -1) {
		if name != "BURSAR_VERSION" && !strings.Contains(known, "`"+name+"`") {
			t.Errorf("compose.yaml has the variable %s, which docs/operations.md does not know", name)
		}
	}
}

// madeImage is what of an image compose.yaml depends on.
type madeImage struct {
	entrypoint []string
	folders    []string // that belong to its user
}

// imageOf reads the image of a program as it is made.
func imageOf(t *testing.T, program string) (image madeImage) {
	t.Helper()
	made := &layout{at: moment, blobs: map[string][]byte{}}
	blobOf, err := made.manifest(program, "amd64", "1.2.3", []byte("program"))
	if err != nil {
		t.Fatal(err)
	}
	content := func(digest string) []byte { return made.blobs[strings.TrimPrefix(digest, "sha256:")] }
	var manifest struct {
		Config blob
		Layers []blob
	}
	var config struct {
		Config struct {
			User       string
			Entrypoint []string
		}
	}
	if err := errors.Join(json.Unmarshal(content(blobOf.Digest), &manifest),
		json.Unmarshal(content(manifest.Config.Digest), &config)); err != nil {
		t.Fatal(err)
	}
	if config.Config.User != fmt.Sprint(imageUser) {
		t.Errorf("the image runs as %q, want %d", config.Config.User, imageUser)
	}
	return madeImage{config.Config.Entrypoint, foldersIn(t, content(manifest.Layers[0].Digest))}
}

// foldersIn returns the folders of a layer that belong to the image's user.
func foldersIn(t *testing.T, layer []byte) (folders []string) {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(layer))
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(unzipped); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return folders
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeDir && h.Uid == imageUser {
			folders = append(folders, "/"+strings.TrimSuffix(h.Name, "/"))
		}
	}
}
