package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/sshsig"
)

type signCommand struct {
	File   string `arg:"" placeholder:"FILE" help:"The text. Your signature is added at its end."`
	Before string `placeholder:"FILE" help:"The policy in force, to compare a new one with."`
}

// Help returns an example.
func (signCommand) Help() string {
	return "Shows what the text says and adds your signature to the file. Anybody can check it with ssh-keygen -Y " +
		"verify.\n\nExample:\n\n    bursar-approve sign --before policy-6.txt policy-7.txt"
}

// Run signs a text.
func (cmd *signCommand) Run(ctx context.Context, s *session) error {
	content, err := os.ReadFile(cmd.File)
	if err != nil {
		return fmt.Errorf("read the text: %w", err)
	}
	text, before, err := sshsig.Split(string(content))
	if err != nil {
		return err
	}
	namespace, err := s.showText(text, cmd.Before)
	if err != nil {
		return err
	}
	s.say("Signatures that it has: %d.", len(before))
	signer, _, closing, err := s.signerFor(ctx, nil)
	defer closing()
	if err != nil {
		return err
	}
	if answer, err := s.ask("Type sign:"); err != nil || answer != "sign" {
		s.say("Nothing was signed.")
		return err
	}
	signature, err := sshsig.Sign(signer, namespace, []byte(text))
	if err != nil {
		return err
	}
	if err := os.WriteFile(cmd.File, append(content, signature...), 0o600); err != nil {
		return fmt.Errorf("write the signature: %w", err)
	}
	s.say("Your signature is in %s.", cmd.File)
	return nil
}

// showText shows a text and returns the namespace of its signature.
func (s *session) showText(text, before string) (namespace string, err error) {
	kind, _, _ := strings.Cut(text, "\n")
	switch kind {
	case roster.KindPolicy:
		return approval.NamespacePolicy, s.showPolicy(text, before)
	case approval.KindDestination:
		_, err := approval.ParseDestination(text)
		s.say("%s", text)
		return approval.NamespaceDestination, err
	case approval.KindOrderKey:
		_, err := approval.ParseOrderKey(text)
		s.say("%s", text)
		return approval.NamespaceOrderKey, err
	case approval.KindCompromise:
		o, err := approval.ParseCompromise(text)
		if err == nil {
			s.showCompromise(o, text)
		}
		return approval.NamespaceCompromise, err
	case approval.KindFreeze:
		_, err := approval.ParseFreeze(text)
		s.say("%s", text)
		return approval.NamespaceFreeze, err
	}
	return "", fmt.Errorf("the text begins with %.40q: payments are approved with `bursar-approve yes`", kind)
}

// showCompromise shows a compromise order, from its text alone.
func (s *session) showCompromise(o approval.Compromise, text string) {
	s.say("%s", text)
	s.say("Anyone who has this text with enough signatures can, once and until %s, have the signer %s move everything to "+
		"these cold wallets, and sign nothing else until authors thaw it.", approval.Moment(o.Expires), o.Instance)
	s.say("Compare each address with the device that has its keys:")
	for _, d := range o.Cold {
		s.say("Cold       %s  %s", d.Chain, d.Base)
	}
}

// showPolicy shows a policy, and what is different from the one before.
func (s *session) showPolicy(text, before string) error {
	next, err := roster.Parse(text)
	if err != nil {
		return err
	}
	s.say("%s", text)
	for _, rule := range next.Unbounded() {
		s.say("limits:   %s", rule)
	}
	if before == "" {
		if next.Version > 1 {
			s.say("Compare it with the policy in force: --before FILE.")
		}
		return nil
	}
	content, err := os.ReadFile(before)
	if err != nil {
		return fmt.Errorf("read the policy before: %w", err)
	}
	old, _, err := sshsig.Split(string(content))
	if err != nil {
		return err
	}
	if next.Previous != approval.HashOf(old) {
		return fmt.Errorf("%s is not the version before: it has %s, want %s", before, approval.HashOf(old), next.Previous)
	}
	policy, err := roster.Read(old) // without the checks that only new policies must pass
	if err != nil {
		return err
	}
	for _, c := range roster.Diff(policy, next) {
		s.say("%s", c)
	}
	return nil
}

// textFlags are what every text needs that is not an approval.
type textFlags struct {
	Instance string        `required:"" help:"Instance of the signer's state, as bursar signer status shows it."`
	For      time.Duration `default:"8h" help:"How long the signer accepts the text, at most 24h."`
}

func (f textFlags) times(s *session) (created, expires time.Time) {
	created = s.now().UTC().Truncate(time.Second)
	return created, created.Add(f.For)
}

// write checks a text and prints it.
func (s *session) write(text string, err error) error {
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(s.out, text)
	return err
}

type destinationCommand struct {
	textFlags
	Remove  bool      `help:"Remove it."`
	Account bursar.ID `placeholder:"ACCOUNT" help:"Only for orders of this account. Default: for everybody's."`
	Chain   string    `required:"" help:"ID of the chain, such as bitcoin."`
	Asset   string    `default:"*" help:"Contract of a token, native, or * for all assets of the chain."`
	Address string    `required:"" help:"The address, as the service writes it; with a destination tag as ADDRESS:TAG."`
	Days    int       `default:"365" help:"How many days it may be paid."`
}

// Help returns an example.
func (destinationCommand) Help() string {
	return "Example:\n\n    bursar-approve destination --instance K7QJ3ZL2M5XW4RT6P8YN9VBHCD --chain bitcoin --address " +
		"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq > destination.txt"
}

// Run writes the text of a destination.
func (cmd *destinationCommand) Run(s *session) error {
	created, expires := cmd.times(s)
	to, err := bursar.SplitMemo(cmd.Address)
	if err != nil {
		return err
	}
	d := approval.Destination{Instance: cmd.Instance, Remove: cmd.Remove, Account: cmd.Account,
		Chain: bursar.ChainID(cmd.Chain), To: to, Created: created, Expires: expires,
		Until: created.AddDate(0, 0, cmd.Days), Nonce: approval.NewNonce()}
	switch cmd.Asset {
	case "*":
		d.Any = true
	case approval.AssetText(""):
	default:
		d.Contract = cmd.Asset
	}
	_, err = approval.ParseDestination(d.Text())
	return s.write(d.Text(), err)
}

type freezeCommand struct {
	textFlags
	Why string `required:"" help:"Reason, for the record."`
}

// Help returns an example.
func (freezeCommand) Help() string {
	return "Anybody in the policy may freeze: sign the text with `bursar-approve sign` and have it applied on the " +
		"signer's machine.\n\nExample:\n\n" +
		"    bursar-approve freeze --instance K7QJ3ZL2M5XW4RT6P8YN9VBHCD --why 'a key was lost' > freeze.txt"
}

// Run writes the text of a freeze.
func (cmd *freezeCommand) Run(s *session) error { return s.writeFreeze(cmd.textFlags, cmd.Why, false) }

type thawCommand struct {
	textFlags
	Why string `required:"" help:"Reason, for the record."`
}

// Help returns an example.
func (thawCommand) Help() string {
	return "As many authors sign it as sign a policy. On mainnet it begins an hour after the signer took it, and any " +
		"person of the policy ends it before with a freeze.\n\nExample:\n\n    bursar-approve thaw --instance " +
		"K7QJ3ZL2M5XW4RT6P8YN9VBHCD --why 'the key was found' > thaw.txt"
}

// Run writes the text of a thaw.
func (cmd *thawCommand) Run(s *session) error { return s.writeFreeze(cmd.textFlags, cmd.Why, true) }

func (s *session) writeFreeze(flags textFlags, why string, thaw bool) error {
	created, expires := flags.times(s)
	f := approval.Freeze{Instance: flags.Instance, Thaw: thaw, Why: why, Created: created, Expires: expires,
		Nonce: approval.NewNonce()}
	_, err := approval.ParseFreeze(f.Text())
	return s.write(f.Text(), err)
}
