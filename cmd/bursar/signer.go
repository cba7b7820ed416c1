package main

type signerCommand struct{}

// Help returns what to do for now.
func (signerCommand) Help() string {
	return "Not available in this version: `bursar serve` signs in its own process.\n\nExample:\n\n    bursar signer --config signer.yaml"
}

// Run refuses: a signer that does nothing must not look like one that works.
func (signerCommand) Run() error {
	return wrong("a signer as a process of its own is not available in this version: `bursar serve` signs in its own process, with the seed file")
}
