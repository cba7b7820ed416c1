package main

import (
	"errors"
	"fmt"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer/command"
)

type configCommands struct {
	Check configCheckCommand `cmd:"" help:"Check every key, and print the effective settings and where each comes from."`
}

type configCheckCommand struct {
	Set  bool `help:"Leave out what is a default."`
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Help returns what is evaluated, and an example.
func (configCheckCommand) Help() string {
	return "Reads the file and the environment as the service does and asks nobody: `bursar doctor` asks the database, " +
		"the nodes and the signer as well. Mistakes are listed all at once, each with its line or variable. A value that " +
		"may be a secret is never printed. Exits with 2 if there is a mistake.\n\nExample:\n\n" +
		"    bursar config check --config /etc/bursar/bursar.yaml"
}

// checkedConfig is what config check prints as JSON.
type checkedConfig struct {
	Valid    bool             `json:"valid"`
	Mistakes []checkedMistake `json:"mistakes"`
	Warnings []string         `json:"warnings"`
	Network  config.Network   `json:"network,omitempty"`
	Settings []checkedSetting `json:"settings"`
}

type checkedMistake struct {
	Place string `json:"place"` // file and line, or variable; empty: the file as a whole
	Key   string `json:"key"`
	What  string `json:"what"`
}

type checkedSetting struct {
	Key    string  `json:"key"`
	Value  *string `json:"value"` // null: set, and not shown
	Source string  `json:"source"`
}

// Run evaluates the configuration.
func (cmd *configCheckCommand) Run(c *call) error {
	cfg, err := c.Load()
	if err != nil {
		return cmd.mistaken(c, err)
	}
	checked := checkedConfig{
		Valid:    true,
		Mistakes: []checkedMistake{},
		Warnings: warningsOf(cfg),
		Network:  cfg.Network,
		Settings: cmd.settings(cfg),
	}
	if cmd.JSON {
		return c.PrintJSON(checked)
	}
	err = list(c, false, checked.Settings, "SETTING VALUE SOURCE", func(s checkedSetting) []any {
		if s.Value == nil {
			return []any{s.Key, "(set, not shown)", s.Source}
		}
		return []any{s.Key, *s.Value, s.Source}
	})
	for _, w := range checked.Warnings {
		c.Note("Warning: %s.", w)
	}
	c.Note("The configuration is valid: %s, chains: %d. `bursar doctor` asks the database and the nodes.", cfg.Network,
		len(cfg.Chains))
	return err
}

// settings returns what applies.
func (cmd *configCheckCommand) settings(cfg config.Config) []checkedSetting {
	all := cfg.Effective()
	if !cmd.Set {
		all = append(all, cfg.Defaults()...)
	}
	list := make([]checkedSetting, len(all))
	for i, s := range all {
		list[i] = checkedSetting{s.Path, optional(s.Value), s.Source}
	}
	return list
}

// mistaken prints the mistakes as JSON where that is asked for; the error says them either way.
func (cmd *configCheckCommand) mistaken(c *call, err error) error {
	if !cmd.JSON {
		return err
	}
	checked := checkedConfig{Mistakes: []checkedMistake{}, Warnings: []string{}, Settings: []checkedSetting{}}
	if all, is := errors.AsType[config.Mistakes](err); is {
		for _, m := range all {
			checked.Mistakes = append(checked.Mistakes, checkedMistake{m.Place, m.Key, m.What})
		}
	} else if one, is := errors.AsType[config.Mistake](err); is {
		checked.Mistakes = append(checked.Mistakes, checkedMistake{one.Place, one.Key, one.What})
	} else {
		checked.Mistakes = append(checked.Mistakes, checkedMistake{What: err.Error()})
	}
	return errors.Join(c.PrintJSON(checked), command.UsageError{Err: fmt.Errorf("the configuration is not valid")})
}

// warningsOf says what is no mistake and keeps money from moving.
func warningsOf(cfg config.Config) []string {
	warnings := []string{}
	if len(cfg.Chains) == 0 {
		warnings = append(warnings, "no chain is configured: no currency can be used")
	}
	for _, currency := range cfg.Registry.All() {
		_, on := cfg.Chains[currency.Chain]
		if reason := cfg.Off[currency.Code]; reason != "" && on {
			warnings = append(warnings, fmt.Sprintf("%s is off: %s", currency.Code, reason))
		}
	}
	for _, currency := range cfg.Unlimited() {
		warnings = append(warnings, fmt.Sprintf("%s has no limit: on mainnet the signer pays out nothing of it; "+
			"`bursar signer policy limits` prints one", currency.Code))
	}
	return warnings
}
