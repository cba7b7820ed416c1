package api_test

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// coverage is one exchange of a script: the endpoint, and the outcome: a status, or the code of a refusal.
type coverage struct{ endpoint, outcome string }

var codeInBody = regexp.MustCompile(`"code":"([a-z_]+)"`)

// exchangesOf reads the scripts as TestScripts does, and returns the endpoint and outcome of each exchange.
func exchangesOf(t *testing.T) map[coverage]int {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	all := map[coverage]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		last, endpoint := "", ""
		for line := range strings.Lines(string(text)) {
			mark, rest := line[:1], strings.TrimSpace(line[1:])
			switch {
			case mark == ">" && last != ">":
				endpoint = endpointOf(rest)
			case mark == "<" && last != "<":
				words := strings.Fields(rest)
				all[coverage{endpoint, words[len(words[:min(2, len(words))])-1]}]++
			case mark == "<" && codeInBody.MatchString(rest):
				all[coverage{endpoint, codeInBody.FindStringSubmatch(rest)[1]}]++
			}
			last = mark
		}
	}
	return all
}

func endpointOf(request string) string {
	method, target, _ := strings.Cut(request, " ")
	path, _, _ := strings.Cut(target, "?")
	return method + " " + path
}

// TestEveryEndpointAndCodeHasACase fails when an endpoint of docs/openapi.yaml has no script in which it succeeds, when
// a refusal of its own is not produced on it, and when a refusal that all have is produced on none.
func TestEveryEndpointAndCodeHasACase(t *testing.T) {
	t.Parallel()
	s, played := theSpec(t), exchangesOf(t)
	anywhere := map[string]int{}
	for e, n := range played {
		anywhere[e.outcome] += n
	}
	for path, item := range s.Paths.Map() {
		for method, op := range item.Operations() {
			endpoint := method + " " + path
			wanted := append([]string{"200"}, words(op.Extensions["x-codes"])...)
			if op.Security == nil || len(*op.Security) > 0 {
				wanted = append(wanted, "unauthorized", "forbidden")
			}
			for _, outcome := range wanted {
				if played[coverage{endpoint, outcome}] == 0 {
					t.Errorf("%s: no script has %s", endpoint, outcome)
				}
			}
		}
	}
	for _, code := range slices.Concat(s.common, s.codes(), []string{"204", "405"}) {
		if anywhere[code] == 0 {
			t.Errorf("no script has %s", code)
		}
	}
	if len(s.codes()) < 20 {
		t.Errorf("the description has the codes %v, want at least 20", s.codes())
	}
}

// codes are those that any refusal of the description may have.
func (s *spec) codes() []string {
	all := map[string]bool{}
	for _, response := range s.Components.Responses {
		media := response.Value.Content.Get("application/json")
		if media == nil || media.Schema.Value.Properties["error"] == nil {
			continue
		}
		for _, code := range media.Schema.Value.Properties["error"].Value.Properties["code"].Value.Enum {
			all[code.(string)] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// TestTheContractsCodes compares the description and the map from codes to statuses with the list that clients were
// promised.
func TestTheContractsCodes(t *testing.T) {
	t.Parallel()
	promised := map[int][]string{
		http.StatusBadRequest: {"invalid_request", "unsupported_currency", "invalid_amount", "invalid_address",
			"invalid_webhook", "invalid_order", "order_expired"},
		http.StatusUnauthorized: {"unauthorized"},
		http.StatusForbidden: {"secret_required", "invalid_secret", "forbidden", "withdrawals_frozen",
			"order_signature_required", "invalid_order_signature"},
		http.StatusNotFound:              {"not_found"},
		http.StatusMethodNotAllowed:      {"method_not_allowed"},
		http.StatusGone:                  {"events_archived"},
		http.StatusRequestEntityTooLarge: {"body_too_large"},
		http.StatusUnsupportedMediaType:  {"unsupported_media_type"},
		http.StatusConflict:              {"idempotency_conflict", "charge_closed", "already_resolved", "too_late"},
		http.StatusUnprocessableEntity: {"insufficient_balance", "below_minimum", "above_maximum", "limit_reached",
			"destination_refused"},
		http.StatusTooManyRequests:     {"rate_limited"},
		http.StatusInternalServerError: {"internal"},
		http.StatusServiceUnavailable:  {"unavailable", "rate_unavailable"},
	}
	var all []string
	for _, codes := range promised {
		all = append(all, codes...)
	}
	slices.Sort(all)
	if got := theSpec(t).codes(); !slices.Equal(got, all) {
		t.Errorf("the description has the codes\n%v, promised are\n%v, want %+v", got, all, all)
	}
}
