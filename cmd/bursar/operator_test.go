package main

import (
	"strings"
	"testing"
)

// What a command changes is in the log of acts, with the user and the reason but no value of another flag; a command
// that only reads is not.
func TestCommandsAreLogged(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, away)
	d.ok("halt", "--all", "--reason", "a drill", "--by", "ann")
	d.ok("halt", "status")
	link := d.ok("operator", "invite", "Ada", "--role", "admin")
	if !strings.Contains(link, "/console/invited#") {
		t.Errorf("the invitation says %q, want a link", link)
	}
	d.ok("operator", "roles", "Ada", "--role", "viewer", "--reason", "a drill")
	if got := d.ok("operator", "sessions", "Ada", "--json"); strings.TrimSpace(got) != "[]" {
		t.Errorf("the sessions of a person without any are %s, want []", got)
	}
	o := d.run("", "operator", "sessions", "Adda")
	if o.code != exitFailed || !strings.Contains(o.err, "nobody named Adda") {
		t.Errorf("the sessions of nobody are answered %d: %s, want %d and that there is nobody of that name", o.code, o.err,
			exitFailed)
	}
	acts := parse[[]listedAct](d, "audit", "acts", "list", "--json")
	if len(acts) != 3 {
		t.Fatalf("the log holds %+v, want three acts", acts)
	}
	halt := acts[2]
	if halt.Verb != verbCommand || halt.Reason != "a drill" || !strings.HasPrefix(halt.Object, "bursar halt") ||
		!strings.Contains(halt.Actor, "@") || strings.Contains(halt.After, "ann") {
		t.Errorf("the halt is logged as %+v", halt)
	}
	if acts[0].Verb != "people.change" || acts[0].Before != "roles admin" || acts[0].After != "roles viewer" {
		t.Errorf("the roles are logged as %+v, want %q and %q and %q", acts[0], "people.change", "roles admin",
			"roles viewer")
	}
	d.ok("audit", "acts", "verify", "--head", halt.Hash)
	if o := d.run("", "audit", "acts", "verify", "--head", strings.Repeat("ab", 32)); o.code != exitFailed {
		t.Errorf("a hash that no act has is answered %d: %s", o.code, o.out)
	}
}
