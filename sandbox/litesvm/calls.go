package litesvm

import "fmt"

// Account is an account at an address. One without lamports does not exist.
type Account struct {
	Key        []byte `json:"key"` // 32 bytes
	Lamports   uint64 `json:"lamports,string"`
	Owner      []byte `json:"owner"` // 32 bytes
	Data       []byte `json:"data"`
	Executable bool   `json:"executable"`
}

// Order is a transaction to execute.
type Order struct {
	Raw      []byte    // as sent; must be well-formed: the library ends the process otherwise
	Accounts []Account // set before the transaction is executed
	Read     [][]byte  // keys of accounts to read afterwards
	Unsigned bool      // signatures are not checked
}

// Verdict is the outcome of a transaction.
type Verdict struct {
	// Err is the TransactionError in the JSON form of nodes: nil, a name, or an object with one member.
	Err      any       `json:"err"`
	Units    uint64    `json:"units"` // compute units
	Logs     []string  `json:"logs"`
	Accounts []Account `json:"accounts"` // the accounts of Order.Read
}

// request is a line to the child; Op decides which members count.
type request struct {
	Op       string    `json:"op"`
	Ledger   bool      `json:"ledger"`
	Raw      []byte    `json:"raw,omitempty"`
	Accounts []Account `json:"accounts,omitempty"`
	Keys     [][]byte  `json:"keys,omitempty"`
	Unsigned bool      `json:"unsigned"`
	Expire   bool      `json:"expire"`
}

// Send executes a transaction and keeps its effects. A failing transaction is a verdict and not an error.
func (v *VM) Send(o Order) (Verdict, error) {
	var verdict Verdict
	err := v.call(request{Op: "send", Raw: o.Raw, Accounts: o.Accounts, Keys: o.Read, Unsigned: o.Unsigned}, &verdict)
	if err == nil && len(verdict.Accounts) != len(o.Read) {
		err = fmt.Errorf("litesvm returns %d accounts, want %d", len(verdict.Accounts), len(o.Read))
	}
	return verdict, err
}

// Set replaces accounts. An executable one must be a program that can run.
func (v *VM) Set(accounts ...Account) error {
	return v.call(request{Op: "set", Accounts: accounts}, &struct{}{})
}

// Read returns the accounts at keys, in their order.
func (v *VM) Read(keys ...[]byte) ([]Account, error) {
	var verdict Verdict
	err := v.call(request{Op: "read", Keys: keys}, &verdict)
	if err == nil && len(verdict.Accounts) != len(keys) {
		err = fmt.Errorf("litesvm returns %d accounts, want %d", len(verdict.Accounts), len(keys))
	}
	return verdict.Accounts, err
}

// Blockhash returns the newest blockhash in base 58, the only one that a machine with a ledger accepts.
func (v *VM) Blockhash() (string, error) { return v.blockhash(false) }

// Expire replaces the newest blockhash and returns the new one.
func (v *VM) Expire() (string, error) { return v.blockhash(true) }

func (v *VM) blockhash(expire bool) (string, error) {
	var out struct {
		Blockhash string `json:"blockhash"`
	}
	err := v.call(request{Op: "blockhash", Expire: expire}, &out)
	return out.Blockhash, err
}
