package evm

import (
	"cmp"
	"math/big"

	"github.com/ethereum/go-ethereum/rlp"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar/chain/ethkey"
)

// setCodeType is the type of a transaction that sets code at the addresses that authorize it (EIP-7702).
const setCodeType = 4

// authority is an address whose key signed an authorization, with the nonce that the authorization uses.
type authority struct {
	address address
	nonce   uint64
}

// maxAuthorizations is more than fits into a block: each costs at least 12,500 gas (EIP-7702).
const maxAuthorizations = 1 << 15

// authorities returns the addresses that signed a transaction's authorizations. The signature alone counts: whether the
// chain applied the authorization depends on the nonce at that moment. Authorizations without a valid signature are
// left out.
func (t *transaction) authorities() []authority {
	if t.Kind != setCodeType || len(t.Authorizations) == 0 {
		return nil
	}
	if !t.read {
		t.read, t.signed = true, signedBy(t.Authorizations)
	}
	return t.signed
}

func signedBy(list jsontext.Value) (found []authority) {
	var tuples []struct {
		ChainID string `json:"chainId"`
		Address string `json:"address"`
		Nonce   string `json:"nonce"`
		YParity string `json:"yParity"`
		V       string `json:"v"` // instead of yParity
		R       string `json:"r"`
		S       string `json:"s"`
	}
	if json.Unmarshal(list, &tuples) != nil || len(tuples) > maxAuthorizations {
		return nil
	}
	for _, tuple := range tuples {
		to, err := parseAddress(tuple.Address)
		chainID, ok1 := hexNumber(tuple.ChainID)
		nonce, ok2 := hexNumber(tuple.Nonce)
		r, ok3 := hexNumber(tuple.R)
		s, ok4 := hexNumber(tuple.S)
		parity, ok5 := hexNumber(cmp.Or(tuple.YParity, tuple.V))
		if err != nil || !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || !nonce.IsUint64() || !parity.IsUint64() ||
			parity.Uint64() > 1 {
			continue
		}
		if signer, ok := recoverAuthority(chainID, to, nonce.Uint64(), byte(parity.Uint64()), r, s); ok {
			found = append(found, authority{signer, nonce.Uint64()})
		}
	}
	return found
}

// recoverAuthority returns the address whose key signed keccak(0x05 || rlp([chain_id, address, nonce])).
func recoverAuthority(chainID *big.Int, to address, nonce uint64, parity byte, r, s *big.Int) (address, bool) {
	body, err := rlp.EncodeToBytes([]any{chainID, to[:], nonce})
	if err != nil {
		return address{}, false
	}
	signature := make([]byte, ethkey.SignatureSize)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:64])
	signature[64] = parity
	signer, err := ethkey.Signer(ethkey.Keccak256([]byte{5}, body), signature)
	return signer, err == nil
}

// hexNumber reads a number of at most 256 bits.
func hexNumber(text string) (*big.Int, bool) {
	if len(text) < 3 || len(text) > 66 || text[:2] != "0x" {
		return nil, false
	}
	n, ok := new(big.Int).SetString(text[2:], 16)
	return n, ok && n.Sign() >= 0
}
