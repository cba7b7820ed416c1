package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/bursar/bursar/docs"
	"github.com/bursar/bursar/test/pins"
)

// TestGenerators has programs of others read the description of the API: redocly finds nothing to complain about, and
// the clients that hey-api and oapi-codegen make of it compile and talk to the service. Their versions are in the lock
// file of the folder generators, and in test/pins.
func TestGenerators(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs generators of clients")
	}
	libraries := generators(t)
	t.Setenv("REDOCLY_TELEMETRY", "off")
	served, err := docs.Render()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.Symlink(filepath.Join(libraries, "node_modules"), filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "openapi.json"), served.JSON, 0o600); err != nil {
		t.Fatal(err)
	}
	rules, err := filepath.Abs(filepath.Join("javascript", "redocly.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	said := run(t, folder, "node", "node_modules/@redocly/cli/bin/cli.js", "lint", "openapi.json", "--config", rules)
	if !strings.Contains(said, "Your API description is valid") || strings.Contains(said, "You have") { // 3 warnings
		t.Errorf("redocly says\n%s\nwant no warning", said)
	}
	run(t, folder, "node", "node_modules/@hey-api/openapi-ts/bin/run.js", "-i", "openapi.json", "-o", "generated")
	writeTSConfig(t, folder)
	run(t, folder, "node", "node_modules/typescript/bin/tsc", "--project", ".")
	s := start(t, "--chains", "bitcoin")
	var hook struct{ URL string }
	s.control(t, "/webhooks/url", nil, &hook)
	talks(t, run(t, "javascript", "node", "generated.mjs", filepath.Join(folder, "dist"), s.API, s.APIKey, hook.URL),
		map[string]any{
			"metadata": "generated",
			"refused":  []any{404.0, "not_found"},
			"wallets":  []any{true},
			"charge":   "0.50000000",
			"balance":  map[string]any{"BTC": "0.00000000"},
		})
	client := generatedGo(t, served.JSON)
	run(t, client, "go", "build", "-gcflags=-N -l", "-o", "client", ".") // apart: it says what it downloads
	said = run(t, client, filepath.Join(client, "client"), s.API, s.APIKey, hook.URL)
	talks(t, said, map[string]any{
		"metadata": "generated",
		"refused":  []any{404.0, "not_found"},
	})
}

// generators is the folder with what the lock file of the folder generators names.
func generators(t *testing.T) string {
	t.Helper()
	libraries := installed(t, "BURSAR_GENERATORS", "generators")
	locked, err := os.ReadFile(filepath.Join("generators", "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	if found, err := os.ReadFile(filepath.Join(libraries, "package-lock.json")); !bytes.Equal(found, locked) {
		t.Fatalf("%s has no generators, or others, %v; run go run ./test -install generators", libraries, err)
	}
	return libraries
}

// The whole PHP client works on PHP 7.4, the oldest that it is for: it passes its tests and signs the orders of the
// shared vectors, compiled to WebAssembly, since systems of today have it no more.
func TestThePHPClientOnTheOldestPHP(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs PHP 7.4 in WebAssembly")
	}
	t.Parallel()
	folder := t.TempDir()
	if err := os.Symlink(filepath.Join(generators(t), "node_modules"), filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(filepath.Join("javascript", "php74.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "php74.mjs"), program, 0o600); err != nil {
		t.Fatal(err)
	}
	clients, err := filepath.Abs(own)
	if err != nil {
		t.Fatal(err)
	}
	said := run(t, folder, "node", "php74.mjs", clients)
	var pass, all int
	_, counts, _ := strings.Cut(said, "redirects and cut answers\n")
	if _, err := fmt.Sscanf(counts, "%d of %d tests pass", &pass, &all); err != nil || pass < 10 || pass != all ||
		!strings.HasPrefix(said, "PHP 7.4.") {
		t.Errorf("PHP 7.4 says %q, %v, want that every test passes", said, err)
	}
}

// installed is where go run ./test installs something, or the place that a variable names.
func installed(t *testing.T, variable, name string) string {
	t.Helper()
	if named := os.Getenv(variable); named != "" {
		return named
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(cache, "bursar-nodes", name)
}

// generatedGo has oapi-codegen write a client, and returns the folder of a program that uses it. It needs a
// suffix for its types of responses, and the description without webhooks: it leaves out the types of their headers.
func generatedGo(t *testing.T, description []byte) (folder string) {
	t.Helper()
	folder = t.TempDir()
	var all map[string]any
	if err := json.Unmarshal(description, &all); err != nil {
		t.Fatal(err)
	}
	delete(all, "webhooks")
	rest, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	testdata := map[string]string{}
	for _, name := range []string{"generated.go.txt", "generated.mod.txt", "generated.sum.txt"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		testdata[name] = string(text)
	}
	for name, text := range map[string]string{
		"go.mod":       testdata["generated.mod.txt"],
		"go.sum":       testdata["generated.sum.txt"],
		"go.work":      "go 1.26.0\n\nuse .\n",
		"openapi.json": string(rest),
		"main.go":      testdata["generated.go.txt"],
		"settings.yaml": "package: gen\ngenerate: {models: true, client: true}\noutput: gen/gen.go\n" +
			"output-options: {response-type-suffix: Reply}\n",
		"gen/doc.go": "// Package gen is generated.\npackage gen\n",
	} {
		path := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	program := installed(t, "BURSAR_OAPI_CODEGEN", filepath.Join("oapi-codegen-"+pins.OapiCodegen, "oapi-codegen"))
	run(t, folder, program, "-config", "settings.yaml", "openapi.json")
	return folder
}

// writeTSConfig has the generated client compiled as what Node.js loads.
func writeTSConfig(t *testing.T, folder string) {
	t.Helper()
	const config = `{"compilerOptions": {"target": "es2022", "module": "commonjs", "moduleResolution": "node10",
		"strict": true, "skipLibCheck": true, "lib": ["es2022", "dom", "dom.iterable"], "outDir": "dist",
		"types": []}, "include": ["generated"]}`
	if err := os.WriteFile(filepath.Join(folder, "tsconfig.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
}

// talks compares what a program printed with what the service answers a generated client.
func talks(t *testing.T, printed string, want map[string]any) {
	t.Helper()
	var got map[string]any
	if err := json.Unmarshal([]byte(printed), &got); err != nil {
		t.Fatalf("%q: %v", printed, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the generated client is answered %v, want %v", got, want)
	}
}
