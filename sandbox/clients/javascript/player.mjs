// Plays calls, one line of JSON each, with the TypeScript client: node player.mjs DIST URL KEY SECRET WEBHOOK_SECRET.

import { createInterface } from "node:readline";

const [dist, baseURL, key, secret, webhookSecret] = process.argv.slice(2);
const { BursarError, Client, each, verifyWebhook, WebhookError } = await import(`${dist}/bursar.js`);
const client = new Client({ baseURL, key, secret });

async function play(call, values, idempotencyKey) {
  if (call === "verify") return verifyWebhook(webhookSecret, values.headers, values.body);
  if (call === "nextEvent") return (await client.feed(values).next()).value;
  if (call === "everyWallet") {
    const all = [];
    for await (const wallet of each((page) => client.listWallets({ ...values, ...page }), "wallets")) all.push(wallet);
    return all;
  }
  if (["getAccount", "listRates", "listCurrencies", "listOrderKeys"].includes(call)) return client[call]();
  return client[call](values, { idempotencyKey });
}

for await (const line of createInterface({ input: process.stdin })) {
  const { call, values, key: idempotencyKey } = JSON.parse(line);
  let answer;
  try {
    answer = { result: await play(call, values, idempotencyKey) };
  } catch (e) {
    if (e instanceof BursarError) {
      answer = { error: { status: e.status, code: e.code, field: e.field, docs: e.docs } };
    } else if (e instanceof WebhookError) {
      answer = { error: { code: e.why } };
    } else {
      throw e;
    }
  }
  console.log(JSON.stringify(answer));
}
