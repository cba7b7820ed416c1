// Calls the service with a client that a generator made of its description: node generated.mjs FOLDER URL KEY HOOK.
// Prints what it was answered, as one line of JSON.

const [folder, baseUrl, key, webhook] = process.argv.slice(2);
const { client } = (await import(`${folder}/client.gen.js`)).default;
const sdk = (await import(`${folder}/sdk.gen.js`)).default;
client.setConfig({ baseUrl, auth: key });

const made = await sdk.createWallet({ body: { currency: "BTC", webhook, metadata: "generated" } });
const wallet = made.data?.response.wallet;
const read = await sdk.getWallet({ query: { walletID: wallet?.walletID ?? "" } });
const unknown = await sdk.getWallet({ query: { walletID: "00000000-0000-4000-8000-000000000000" } });
const wallets = await sdk.listWallets({ query: { currency: "BTC", limit: 1 } });
const charge = await sdk.createCharge({ body: { currency: "BTC", webhook, amount: "0.5", reference: "generated 1" } });
const account = await sdk.getAccount();
console.log(JSON.stringify({
  metadata: read.data?.response.wallet.metadata,
  refused: [unknown.response.status, unknown.error?.error.code],
  wallets: wallets.data?.response.wallets.map((w) => w.walletID === wallet?.walletID),
  charge: charge.data?.response.charge.due,
  balance: account.data?.response.account.balance,
}));
