package console

import "github.com/bursar/bursar/operator"

// basePages lists the pages of people, of the log of acts and of one's own sessions.
func (c *Console) basePages() []page {
	return []page{
		{path: "/me", title: "You", serve: c.me},
		{path: "/people", verb: operator.VerbPeople, title: "People", nav: "People", serve: c.people},
		{path: "/audit", verb: operator.VerbAudit, title: "Audit", nav: "Audit", serve: c.audit},
		{path: "/audit.csv", verb: operator.VerbAudit, title: "Audit", nav: "Audit", serve: c.auditFile},
	}
}

// baseActions lists what changes people and sessions.
func (c *Console) baseActions() []action {
	return []action{
		{path: "/people/revoke", verb: operator.VerbPeople, do: c.revokePerson},
		{path: "/me/end", verb: "", do: c.endSession},
		{path: "/sign-out", verb: "", do: c.signOut},
	}
}
