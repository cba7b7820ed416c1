package bursar

import (
	"errors"
	"strconv"
	"strings"
)

// Address is a payable address of a chain: a base in the chain's canonical form and, on chains that use one, a memo (an
// XRPL destination tag). No memo and memo 0 are different addresses.
type Address struct {
	Base    string
	Memo    uint32
	HasMemo bool
}

// ErrBadAddress is returned for a text that is not a payable address of the chain, for any reason.
var ErrBadAddress = errors.New("not a valid address")

// String returns "<base>" or "<base>:<memo>".
func (a Address) String() string {
	if !a.HasMemo {
		return a.Base
	}
	return a.Base + ":" + strconv.FormatUint(uint64(a.Memo), 10)
}

// Tag returns the memo in base ten, "" for an address without one.
func (a Address) Tag() string {
	if !a.HasMemo {
		return ""
	}
	return strconv.FormatUint(uint64(a.Memo), 10)
}

// SplitMemo splits "<base>:<memo>"; the memo must be a plain unsigned 32-bit number without leading zeros. The base is
// not checked.
func SplitMemo(s string) (Address, error) {
	base, memo, found := strings.Cut(s, ":")
	if !found {
		return Address{Base: s}, nil
	}
	n, err := strconv.ParseUint(memo, 10, 32)
	if err != nil || strconv.FormatUint(n, 10) != memo {
		return Address{}, ErrBadAddress
	}
	return Address{Base: base, Memo: uint32(n), HasMemo: true}, nil
}
