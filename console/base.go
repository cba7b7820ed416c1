package console

// basePages lists the pages of people, of the log of acts and of one's own sessions.
func (c *Console) basePages() []page {
	return nil
}

// baseActions lists what changes people and sessions.
func (c *Console) baseActions() []action { return nil }
