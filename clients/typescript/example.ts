// Creates a wallet, waits for what is paid to it, and shows the balance.
//
//     BURSAR_API=http://127.0.0.1:8080 BURSAR_API_KEY=… node dist/example.js BTC https://shop.example/hook

import { BursarError, Client } from "./bursar.js";

const [currency = "BTC", webhook = ""] = process.argv.slice(2);
const client = new Client({ baseURL: process.env.BURSAR_API ?? "", key: process.env.BURSAR_API_KEY ?? "" });
try {
  const { next } = await client.listEvents({ after: "newest" });
  const wallet = await client.createWallet({ currency, webhook, metadata: "customer 7" });
  console.log("pay to", wallet.address);
  for await (const event of client.feed({ after: next, wait: 20, event: "deposit" })) {
    if (event.deposit?.walletID !== wallet.walletID) continue;
    console.log("paid", event.deposit.amount);
    console.log("balance", (await client.getAccount()).balance[currency]);
    break;
  }
} catch (failed) {
  if (!(failed instanceof BursarError)) throw failed;
  console.error(`${failed.code} of ${failed.field || "the request"}, see ${failed.docs}: ${failed.reason}`);
  process.exitCode = 1;
}
