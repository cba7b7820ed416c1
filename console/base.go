package console

import "github.com/bursar/bursar/operator"

// basePages lists the pages of people, of the log of acts and of one's own sessions.
func (c *Console) basePages() []page {
	return []page{
		{"/me", "", "You", "", c.me},
		{"/people", operator.VerbPeople, "People", "People", c.people},
		{"/audit", operator.VerbAudit, "Audit", "Audit", c.audit},
		{"/audit.csv", operator.VerbAudit, "Audit", "Audit", c.auditFile},
	}
}

// baseActions lists what changes people and sessions.
func (c *Console) baseActions() []action {
	return []action{
		{"/people/revoke", operator.VerbPeople, c.revokePerson},
		{"/me/end", "", c.endSession},
		{"/sign-out", "", c.signOut},
	}
}
