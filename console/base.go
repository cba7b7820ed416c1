package console

import "github.com/bursar/bursar/operator"

// basePages lists the pages of people, of the log of acts and of one's own sessions.
func (c *Console) basePages() []page {
	return []page{
		{"/", operator.VerbRead, "Home", "Home", func(*visit) (any, error) { return struct{}{}, nil }},
	}
}

// baseActions lists what changes people and sessions.
func (c *Console) baseActions() []action { return nil }
