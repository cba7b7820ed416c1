package clients

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/bursar/bursar/docs"
)

// TestGenerators has programs of others read the description of the API: redocly 2.77.0 finds nothing to complain
// about, and the clients that hey-api 0.95.0 and oapi-codegen 2.8.2 make of it compile and talk to the service. They
// are not among the libraries of the other tests, to spare every run of them 57 MB and half a minute.
func TestGenerators(t *testing.T) {
	libraries := os.Getenv("BURSAR_GENERATORS")
	if libraries == "" {
		t.Skip("BURSAR_GENERATORS does not name a folder with the generators: docs/clients.md says how to get them")
	}
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
	talks(t, run(t, generatedGo(t, served.JSON), "go", "run", ".", s.API, s.APIKey, hook.URL), map[string]any{
		"metadata": "generated",
		"refused":  []any{404.0, "not_found"},
	})
}

// generatedGo has oapi-codegen 2.8.2 write a client, and returns the folder of a program that uses it. It needs a
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
	program, err := os.ReadFile(filepath.Join("testdata", "generated.go.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod":       "module generated\n\ngo 1.25\n",
		"go.work":      "go 1.25\n\nuse .\n",
		"openapi.json": string(rest),
		"main.go":      string(program),
		"settings.yaml": "package: gen\ngenerate: {models: true, client: true}\noutput: gen/gen.go\n" +
			"output-options: {response-type-suffix: Reply}\n",
		"gen/doc.go": "// Package gen is generated.\npackage gen\n",
	} {
		path := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	run(t, folder, "go", "run", "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2", "-config",
		"settings.yaml", "openapi.json")
	run(t, folder, "go", "mod", "tidy")
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
