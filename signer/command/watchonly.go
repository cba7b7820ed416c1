package command

import "github.com/bursar/bursar/signer"

type seedExportWatchOnlyCommand struct {
	Keys int `default:"20000" placeholder:"N" help:"How many addresses to list of each chain whose addresses only the seed can derive. Default: 20000."`
}

// Help returns an example.
func (seedExportWatchOnlyCommand) Help() string {
	return "With this file as signer.watch_only a service receives deposits on a machine without the seed. It cannot " +
		"spend. Anyone who reads it can link all addresses and sign webhooks in your name: keep it private. It is " +
		"signed; a changed file is refused.\n\nExample:\n\n    bursar seed export-watch-only --keys 50000 > watch.json"
}

// Run prints the file.
func (cmd *seedExportWatchOnlyCommand) Run(c *Call) error {
	if cmd.Keys < 1 || cmd.Keys > signer.MaxWatchOnlyKeys {
		return Wrong("--keys %d is not between 1 and %d", cmd.Keys, signer.MaxWatchOnlyKeys)
	}
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	keys, err := c.openKeys(cfg)
	if err != nil {
		return err
	}
	defer keys.Wipe()
	file, err := keys.ExportWatchOnly(cmd.Keys)
	if err != nil {
		return err
	}
	return c.Say("%s", file)
}
