package service

import (
	"log/slog"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/console"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/operator/proposal"
	"github.com/bursar/bursar/store"
)

// HostProposals returns the life of proposals for commands on the host, which approve and stop what was proposed in the
// console, by its rules. They carry nothing out: a process that serves does, within seconds.
func HostProposals(db *store.DB, ids *bursar.IDs, people *operator.Service, c config.Console) *proposal.Service {
	p := &proposal.Service{DB: db, IDs: ids, Log: slog.New(slog.DiscardHandler), Kinds: map[string]proposal.Kind{}}
	for verb, needs := range rightsOf {
		p.Kinds[verb] = proposal.Kind{Propose: needs.propose, Approve: needs.approve}
	}
	console.Evaluate(p, people, personKeys(c))
	return p
}

// personKeys returns the configured SSH keys as those who evaluate proposals take them.
func personKeys(c config.Console) (keys []proposal.PersonKey) {
	for _, k := range c.SSHKeys {
		keys = append(keys, proposal.PersonKey{Person: k.Person, Key: k.Key})
	}
	return keys
}
