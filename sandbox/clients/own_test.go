package clients

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar/docs"
)

var update = flag.Bool("update", false, "write clients/typescript/types.ts")

// own is the folder of our clients in other languages.
var own = filepath.Join("..", "..", "clients")

// TestOurClients checks the clients in clients/: the types of the TypeScript client are what openapi-typescript 7.13.0
// makes of docs/openapi.yaml, it compiles, and the tests of each pass; then all play one scenario, and the Go client
// with them.
func TestOurClients(t *testing.T) {
	if testing.Short() {
		t.Skip("needs Node.js, Python, PHP and a whole sandbox")
	}
	t.Parallel()
	folder := typescript(t)
	t.Run("TypeScript", func(t *testing.T) {
		t.Parallel()
		run(t, folder, "node", "--test", "dist/bursar.test.js")
	})
	t.Run("Python", func(t *testing.T) {
		t.Parallel()
		run(t, filepath.Join(own, "python"), "python3", "-m", "unittest")
	})
	t.Run("PHP", func(t *testing.T) {
		t.Parallel()
		run(t, filepath.Join(own, "php"), "php", "test.php")
	})
	t.Run("WooCommerce", func(t *testing.T) {
		t.Parallel()
		run(t, filepath.Join(own, "woocommerce"), "php", "test.php")
		run(t, filepath.Join(own, "woocommerce"), "php", "test/load.php")
	})
	takesWebhooks(t, filepath.Join(folder, "dist"))
	t.Run("scenario", func(t *testing.T) {
		t.Parallel()
		playScenario(t, filepath.Join(folder, "dist"))
	})
}

// typescript compiles the TypeScript client beside the libraries that it is compiled with, and returns the folder.
func typescript(t *testing.T) (folder string) {
	t.Helper()
	libraries, err := Folder()
	if err != nil {
		t.Fatal(err)
	}
	folder = t.TempDir()
	modules := filepath.Join(libraries, "node_modules")
	if err := os.Symlink(modules, filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	sources, err := filepath.Glob(filepath.Join(own, "typescript", "*.*"))
	if err != nil || len(sources) == 0 {
		t.Fatalf("there are %d sources of the TypeScript client: %v, want some", len(sources), err)
	}
	for _, name := range sources {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, filepath.Base(name)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for document, languages := range documentsWithSnippets {
		for _, k := range snippets {
			if k.language != "TypeScript" || !slices.Contains(languages, k.language) {
				continue
			}
			file, program := k.program(t, document)
			if err := os.WriteFile(filepath.Join(folder, file), []byte(program), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	shop := []byte(shopProgram(t, "typescript"))
	if err := os.WriteFile(filepath.Join(folder, "shop.ts"), shop, 0o600); err != nil {
		t.Fatal(err)
	}
	checkTypes(t, folder)
	run(t, folder, "node", "node_modules/typescript/bin/tsc", "--project", ".")
	return folder
}

// checkTypes generates types.ts from the description that the service serves. A generator that has something to say
// about it says more than its name and the file.
func checkTypes(t *testing.T, folder string) {
	t.Helper()
	served, err := docs.Render()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "openapi.json"), served.JSON, 0o600); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(filepath.Join(folder, "types.ts"))
	if err != nil {
		t.Fatal(err)
	}
	said := run(t, folder, "node", "node_modules/openapi-typescript/bin/cli.js", "openapi.json", "--output", "types.ts")
	if lines := strings.Count(strings.TrimSpace(said), "\n") + 1; lines != 2 ||
		!strings.Contains(said, "openapi.json → ") {
		t.Errorf("openapi-typescript says\n%s\nwant no warning", said)
	}
	generated, err := os.ReadFile(filepath.Join(folder, "types.ts"))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(filepath.Join(own, "typescript", "types.ts"), generated, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(written, generated) {
		t.Error("clients/typescript/types.ts is not what docs/openapi.yaml gives: run go test ./sandbox/clients " +
			"-run TestOurClients -update")
	}
}

// TestThePythonClientHasEveryParameter compares the methods of the Python client with docs/openapi.yaml. What the
// TypeScript client lacks is found by its compiler.
func TestThePythonClientHasEveryParameter(t *testing.T) {
	if testing.Short() {
		t.Skip("needs Python")
	}
	t.Parallel()
	const inspect = "import bursar, inspect, json; print(json.dumps({name: sorted(inspect.signature(f).parameters) " +
		"for name, f in inspect.getmembers(bursar.Client, inspect.isfunction) if name[0] != '_'}))"
	var got map[string][]string
	text := run(t, filepath.Join(own, "python"), "python3", "-c", inspect)
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	delete(got, "feed")          // reads what list_events lists
	delete(got, "follow_charge") // reads what watch_charge answers
	inner := regexp.MustCompile("([a-z])([A-Z])")
	for id, want := range parameters(t) {
		name := strings.ToLower(inner.ReplaceAllString(id, "${1}_${2}"))
		if !slices.Equal(got[name], want) {
			t.Errorf("%s has the parameters %v, want %v", name, got[name], want)
		}
		delete(got, name)
	}
	for name := range got {
		t.Errorf("%s is no endpoint of docs/openapi.yaml", name)
	}
}

// TestThePHPClientHasEveryParameter compares the calls of the PHP client, and what its comments say about them, with
// docs/openapi.yaml.
func TestThePHPClientHasEveryParameter(t *testing.T) {
	if testing.Short() {
		t.Skip("needs PHP")
	}
	t.Parallel()
	const inspect = `require "autoload.php"; $all = [];
		foreach (Bursar\Endpoints::ALL as $name => [, , , $known]) {
			$method = new ReflectionMethod(Bursar\Client::class, $name);
			preg_match('/array\{(((?!\$values)(?!\*\/).)*)\} \$values/s', $method->getDocComment(), $shape);
			preg_match_all('/(\w+)\??: /', $shape[1] ?? "", $described);
			sort($known);
			sort($described[1]);
			$all[$name] = ["Known" => $known, "Described" => $described[1]];
		}
		echo json_encode($all);`
	var got map[string]struct{ Known, Described []string }
	text := run(t, filepath.Join(own, "php"), "php", "-r", inspect)
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	options := []string{"self", "idempotency_key", "signature", "created", "max_fee"}
	for id, list := range parameters(t) {
		want := []string{}
		for _, name := range list {
			ofOrder := id == "refundCharge" && name == "currency"
			if !ofOrder && !slices.Contains(options, name) {
				want = append(want, strings.TrimSuffix(name, "_"))
			}
		}
		slices.Sort(want)
		if g, known := got[id]; !known || !slices.Equal(g.Known, want) || !slices.Equal(g.Described, want) {
			t.Errorf("%s has the parameters %v and describes %v, want %v", id, g.Known, g.Described, want)
		}
		delete(got, id)
	}
	for name := range got {
		t.Errorf("%s is no endpoint of docs/openapi.yaml", name)
	}
}

// described is the part of an OpenAPI document that has the parameters.
type described struct {
	Ref         string `json:"$ref"`
	OperationID string
	Security    *[]any
	Name, In    string
	Parameters  []described
	RequestBody *described
	Content     map[string]struct{ Schema described }
	Properties  map[string]any
}

// parameters returns the parameters of a method for each endpoint with a key, by its operation.
func parameters(t *testing.T) map[string][]string {
	t.Helper()
	served, err := docs.Render()
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Paths      map[string]map[string]described
		Components map[string]map[string]described
	}
	if err := json.Unmarshal(served.JSON, &d); err != nil {
		t.Fatal(err)
	}
	follow := func(one described) described {
		if parts := strings.Split(one.Ref, "/"); len(parts) == 4 {
			return d.Components[parts[2]][parts[3]]
		}
		return one
	}
	signed := map[string][]string{"withdraw": {"created", "max_fee"}, "refundCharge": {"created", "currency", "max_fee"}}
	names := map[string]string{"from": "from_", "Idempotency-Key": "idempotency_key", "Bursar-Signature": "signature"}
	all := map[string][]string{}
	for _, item := range d.Paths {
		for _, op := range item {
			if op.Security != nil && len(*op.Security) == 0 {
				continue
			}
			list := []string{"self"}
			add := func(name string) {
				if other := names[name]; other != "" {
					name = other
				}
				list = append(list, name)
			}
			for _, p := range op.Parameters {
				add(follow(p).Name)
			}
			if op.RequestBody != nil {
				form := follow(follow(*op.RequestBody).Content["application/json"].Schema)
				for name := range form.Properties {
					add(name)
				}
			}
			list = append(list, signed[op.OperationID]...) // by a client that signs orders
			slices.Sort(list)
			all[op.OperationID] = list
		}
	}
	return all
}

// installedBy are the steps of go run ./test that install a program.
var installedBy = map[string]string{"node": "nodejs", "python3": "pyzmq", "php": "php"}

// run runs a program in a folder and returns what it prints; the test ends if it fails.
func run(t *testing.T, folder, program string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Fatalf("%v: run go run ./test -install %s", err, installedBy[program])
	}
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir = folder
	vectors, err := filepath.Abs(filepath.Join(own, "vectors", "orders.json"))
	if err != nil {
		t.Fatal(err)
	}
	command.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "NO_COLOR=1", "BURSAR_VECTORS="+vectors)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", program, args, err, out)
	}
	return string(out)
}
