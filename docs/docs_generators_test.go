package docs

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// TestGeneratorsUnderstandTheSpec checks what generators of clients stumble over: a body of a GET, a parameter in two
// places, an optional body, and one name for two things, since many put all components in one namespace.
func TestGeneratorsUnderstandTheSpec(t *testing.T) {
	t.Parallel()
	d := parsedSpec(t)
	operations := map[string]string{}
	for path, item := range d.Paths.Map() {
		for method, op := range item.Operations() {
			where := method + " " + path
			if other := operations[op.OperationID]; other != "" || op.OperationID == "" {
				t.Errorf("%s and %s are both %q, want a name for each", other, where, op.OperationID)
			}
			operations[op.OperationID] = where
			checkPlaces(t, where, method, op)
		}
	}
	sections := map[string]string{}
	for section, names := range componentsOf(d) {
		for _, name := range names {
			if other := sections[name]; other != "" {
				t.Errorf("%s is in %s and in %s, want one thing by that name", name, other, section)
			}
			sections[name] = section
		}
	}
}

func checkPlaces(t *testing.T, where, method string, op *openapi3.Operation) {
	t.Helper()
	switch body := op.RequestBody; {
	case method == http.MethodGet && body != nil:
		t.Errorf("%s has a body, want none", where)
	case method != http.MethodGet && (body == nil || !body.Value.Required):
		t.Errorf("%s has no body that is required, want one", where)
	}
	for _, p := range op.Parameters {
		if p.Value.In == openapi3.ParameterInQuery && method != http.MethodGet {
			t.Errorf("%s has %s in the query, want it in the body only", where, p.Value.Name)
		}
	}
}

func componentsOf(d *openapi3.T) map[string][]string {
	all := map[string][]string{}
	for name := range d.Components.Schemas {
		all["schemas"] = append(all["schemas"], name)
	}
	for name := range d.Components.Responses {
		all["responses"] = append(all["responses"], name)
	}
	for name := range d.Components.Parameters {
		all["parameters"] = append(all["parameters"], name)
	}
	for name := range d.Components.RequestBodies {
		all["requestBodies"] = append(all["requestBodies"], name)
	}
	return all
}

// TestEveryComponentIsUsed finds what a removed endpoint leaves behind. A method that no path has is in none of them.
func TestEveryComponentIsUsed(t *testing.T) {
	t.Parallel()
	used := map[string]bool{"MethodNotAllowedResponse": true}
	for _, ref := range regexp.MustCompile(`#/components/\w+/([\w-]+)`).FindAllStringSubmatch(string(source), -1) {
		used[ref[1]] = true
	}
	for section, names := range componentsOf(parsedSpec(t)) {
		for _, name := range names {
			if !used[name] {
				t.Errorf("%s in %s is never used, want it removed", name, section)
			}
		}
	}
}

func parsedSpec(t *testing.T) *openapi3.T {
	t.Helper()
	d, err := openapi3.NewLoader().LoadFromData(rendered(t).JSON)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
