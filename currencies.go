package bursar

// Chains that the API names.
const (
	Bitcoin  ChainID = "bitcoin"
	Litecoin ChainID = "litecoin"
	Ethereum ChainID = "ethereum"
	BSC      ChainID = "bsc"
	Polygon  ChainID = "polygon"
	Tron     ChainID = "tron"
	Solana   ChainID = "solana"
	XRPL     ChainID = "xrpl"
)

// Standard returns the eleven currencies that the API names, with their mainnet contracts and default limits. The
// contracts are those that their issuers publish: Tether (tether.to), Circle (USDC native on Polygon).
func Standard() []Currency {
	network := Fee{Network: true}
	d := func(s string, decimals int) Amount {
		a, err := ParseDecimal(s, decimals)
		if err != nil {
			panic("bursar: default limit " + s + ": " + err.Error()) // a constant of this file is wrong
		}
		return a
	}
	native := func(code CurrencyCode, chain ChainID, decimals, places int, minimum, withdrawal string) Currency {
		return Currency{Code: code, Chain: chain, Decimals: decimals, Places: places, WithdrawalFee: network,
			Minimum: d(minimum, decimals), WithdrawalMinimum: d(withdrawal, decimals)}
	}
	token := func(code CurrencyCode, chain ChainID, contract string) Currency {
		return Currency{Code: code, Chain: chain, Contract: contract, Decimals: 6, Places: 2,
			Minimum: d("1", 6), WithdrawalMinimum: d("1", 6)}
	}
	xrp := native("XRP", XRPL, 6, 2, "0.1", "1")
	xrp.Memo = "destination tag"
	return []Currency{
		native("BTC", Bitcoin, 8, 8, "0.0001", "0.0005"),
		native("ETH", Ethereum, 18, 8, "0.001", "0.005"),
		native("LTC", Litecoin, 8, 8, "0.001", "0.01"),
		native("BNB", BSC, 18, 8, "0.001", "0.005"),
		native("SOL", Solana, 9, 8, "0.01", "0.01"),
		native("MATIC", Polygon, 18, 2, "0.1", "1"),
		xrp,
		native("TRX", Tron, 6, 2, "1", "5"),
		token("USDT", Tron, "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"),
		token("USDT-MATIC", Polygon, "0xc2132D05D31c914a87C6611C10748AEb04B58e8F"),
		token("USDC-MATIC", Polygon, "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359"),
	}
}
