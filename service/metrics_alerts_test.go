package service_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// alerts returns the expressions of the rules, which must be complete: each with a severity and a summary.
func alerts(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../docs/observability/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, r := range file.Groups[0].Rules {
		_, err := time.ParseDuration(r.For)
		if severity := r.Labels["severity"]; severity != "page" && severity != "ticket" || r.Annotations["summary"] == "" ||
			r.Expr == "" || r.For != "" && err != nil || all[r.Alert] != "" {
			t.Errorf("the alert %+v is incomplete, or occurs twice", r)
		}
		all["alert "+r.Alert] = r.Expr
	}
	return all
}

// panels returns the expressions of the dashboard, whose panels must have their own positions and numbers.
func panels(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../docs/observability/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Title  string
		Panels []struct {
			ID                       int
			Type, Title, Description string
			GridPos                  struct{ H, W, X, Y int }
			Targets                  []struct{ RefID, Expr string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	all, places, ids := map[string]string{}, map[[2]int]bool{}, map[int]bool{}
	for _, p := range board.Panels {
		at := [2]int{p.GridPos.X, p.GridPos.Y}
		if places[at] || ids[p.ID] || p.GridPos.X+p.GridPos.W > 24 || p.GridPos.H == 0 ||
			p.Type != "row" && (p.Description == "" || len(p.Targets) == 0) {
			t.Errorf("the panel %+v is incomplete, or overlaps another", p)
		}
		places[at], ids[p.ID] = true, true
		for _, target := range p.Targets {
			all["panel "+p.Title+" "+target.RefID] = target.Expr
		}
	}
	return all
}

var (
	selector = regexp.MustCompile(`\b([a-z_]+_[a-z_]+|up)\b(?:\{([^}]*)\})?`)
	grouping = regexp.MustCompile(`\b(?:by|on|ignoring|without) \(([^)]*)\)`)
	matcher  = regexp.MustCompile(`([a-z_]+) ?=~?"([^"]*)"`)
	value    = regexp.MustCompile(`"([^"]*)"`)
)

// The alerts and the dashboard use existing metrics, labels, queues and accounts. `promtool check rules` checks that
// their expressions parse; here only brackets are counted.
func TestAlertsAndDashboardUseExistingMetrics(t *testing.T) {
	t.Parallel()
	known := described(t)
	known["up"] = shape{labels: []string{"job"}}
	functions := []string{"group_right", "group_left"}
	words := []string{"pending_deposits", "withdrawals", "approvals", "spends", "deliveries", "charges", "custody",
		"capital",
		"unattributed", "below_minimum", "fees:.*", "losses", "bursar", "2xx"}
	all := alerts(t)
	maps.Copy(all, panels(t))
	if len(all) < 30 {
		t.Fatalf("there are %d expressions, want at least 30", len(all))
	}
	for place, expr := range all {
		for _, m := range selector.FindAllStringSubmatch(value.ReplaceAllString(expr, `""`), -1) {
			if _, is := known[partOf.ReplaceAllString(m[1], "")]; !is && !slices.Contains(functions, m[1]) {
				t.Errorf("%s uses %s, which is not exported", place, m[1])
			}
		}
		for _, m := range selector.FindAllStringSubmatch(expr, -1) {
			for _, l := range matcher.FindAllStringSubmatch(m[2], -1) {
				if !slices.Contains(known[m[1]].labels, l[1]) || !slices.Contains(words, l[2]) {
					t.Errorf("%s uses %s of %s, which is not exported", place, l[0], m[1])
				}
			}
		}
		for _, m := range grouping.FindAllStringSubmatch(expr, -1) {
			for name := range strings.SplitSeq(m[1], ", ") {
				if !slices.Contains([]string{"chain", "queue", "currency", "account", "kind", "endpoint", "instance", "outcome",
					"listener", "place", "receiver"},
					name) {
					t.Errorf("%s groups by %s", place, name)
				}
			}
		}
		if strings.Count(expr, "(") != strings.Count(expr, ")") || strings.Count(expr, "{") != strings.Count(expr, "}") ||
			strings.Count(expr, `"`)%2 != 0 {
			t.Errorf("%s does not parse: %s", place, expr)
		}
	}
}
