import assert from "node:assert/strict";
import { generateKeyPairSync, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { inspect } from "node:util";

import { type Asset, BursarError, Client, type Config, each, NoResponse, type operations, orderKey, orderKeyID, Orders,
  type Payment, signWebhook, tolerance, verifyWebhook, WebhookError } from "./bursar.js";

// Every endpoint is a method: the compiler names one that is missing. The webhooks of the description end in Event.
type Missing = Exclude<keyof operations,
  keyof Client | `${string}Event` | "healthz" | "readyz" | "getOpenAPI" | "getDocs">;
const complete: [Missing] extends [never] ? true : Missing = true;

const secret = "whsec_c2VjcmV0IG9mIGEgdGVzdA==";
const now = 1_800_000_000;
const event = { eventID: "01991f2e-6c00-7a3b-8c1d-0123456789ab", event: "test" as const };

interface Asked { method: string; url: string; headers: Record<string, string>; body?: Record<string, unknown> }

const success = (response: object) => new Response(JSON.stringify({ success: true, response }));

function refusal(status: number, code: string, headers: Record<string, string> = {}): Response {
  const error = { code, message: "no", field: "amount", docs: "/docs/errors#" + code };
  return new Response(JSON.stringify({ success: false, error }), { status, headers });
}

/** A service that answers with what it is given, in turn, and keeps what it was asked. */
function service(answers: (Response | Error)[], config: Partial<Config> = {}) {
  const asked: Asked[] = [], waits: number[] = [];
  const client = new Client({
    baseURL: "https://pay.example/", key: "the key", secret: "the secret",
    fetch: async (url, init) => {
      assert.equal(init?.redirect, "manual");
      asked.push({
        method: init?.method ?? "", url: String(url), headers: init?.headers as Record<string, string>,
        body: init?.body ? JSON.parse(String(init.body)) : undefined,
      });
      const answer = answers.shift();
      if (!(answer instanceof Response)) throw answer;
      return answer;
    },
    sleep: async (ms) => void waits.push(ms),
    ...config,
  });
  return { client, asked, waits };
}

test("every endpoint is a method", () => assert.equal(complete, true));

test("a change keeps its key in each attempt", async () => {
  const s = service([new TypeError("cut"), refusal(503, "unavailable", { "Retry-After": "7" }),
    success({ withdrawal: { withdrawalID: "w" } })]);
  const got = await s.client.withdraw({ currency: "BTC", amount: "0.00000001", address: "a" });
  assert.equal(got.withdrawalID, "w");
  assert.equal(s.asked.length, 3);
  assert.equal(new Set(s.asked.map((a) => a.headers["Idempotency-Key"])).size, 1);
  assert.equal(s.asked[0]?.headers["X-API-SECRET"], "the secret");
  assert.ok(s.waits[0]! >= 125 && s.waits[0]! <= 250 && s.waits[1] === 7000, inspect(s.waits));
});

test("refusals are not repeated", async () => {
  const s = service([refusal(422, "insufficient_balance", { "X-Request-ID": "r1" })]);
  const sent = { currency: "BTC", amount: "1", address: "a" };
  await assert.rejects(s.client.withdraw(sent, { idempotencyKey: "mine" }), (e) => {
    assert.ok(e instanceof BursarError);
    assert.deepEqual([e.status, e.code, e.field, e.docs, e.requestID, e.idempotencyKey],
      [422, "insufficient_balance", "amount", "/docs/errors#insufficient_balance", "r1", "mine"]);
    return true;
  });
});

test("a call ends", async () => {
  for (const [answers, config, attempts] of [
    [[refusal(429, "rate_limited", { "Retry-After": "31" })], {}, 1],
    [[refusal(429, "rate_limited"), refusal(429, "rate_limited")], { attempts: 2 }, 2],
    [[1, 2, 3, 4].map(() => new TypeError("cut")), {}, 4],
    [[new Response("<html>")], {}, 1],
    [[new Response("", { status: 302, headers: { Location: "/elsewhere" } })], {}, 1],
  ] as [(Response | Error)[], Partial<Config>, number][]) {
    const s = service(answers, config);
    await assert.rejects(s.client.getAccount(), (e) => e instanceof BursarError || e instanceof NoResponse);
    assert.equal(s.asked.length, attempts);
  }
});

test("a date is read by the response's own clock", async () => {
  const dates = { "Retry-After": "Tue, 24 Nov 2026 12:00:09 GMT", Date: "Tue, 24 Nov 2026 12:00:00 GMT" };
  const s = service([refusal(503, "unavailable", dates), success({ rates: [] })]);
  assert.deepEqual(await s.client.listRates(), []);
  assert.deepEqual(s.waits, [9000]);
});

test("what cannot be meant is refused before it is sent", async () => {
  const s = service([]);
  // @ts-expect-error: an amount is text
  await assert.rejects(s.client.withdraw({ currency: "BTC", amount: 0.1, address: "a" }), TypeError);
  const item = { currency: "BTC", amount: 0.1, address: "a", reference: "r" };
  // @ts-expect-error: in each of several withdrawals too
  await assert.rejects(s.client.withdrawEach({ withdrawals: [item] }), TypeError);
  for (const baseURL of ["ftp://x", "https://u:p@x", "https://x?a", "nothing"]) {
    assert.throws(() => new Client({ baseURL, key: "k" }), TypeError);
  }
  assert.equal(s.asked.length, 0);
});

test("a list is read to its end", async () => {
  const pages = [{ charges: [{ chargeID: "1" }], nextCursor: "c2" }, { charges: [{ chargeID: "2" }] }];
  const s = service(pages.map(success));
  const list = (page: object) => s.client.listCharges({ from: new Date(0), ...page });
  const got: string[] = [];
  for await (const charge of each(list, "charges")) got.push(charge.chargeID);
  assert.deepEqual(got, ["1", "2"]);
  assert.deepEqual(s.asked.map((a) => a.url.split("?")[1]),
    ["from=1970-01-01T00%3A00%3A00.000Z", "from=1970-01-01T00%3A00%3A00.000Z&cursor=c2"]);
});

test("the feed ends where nothing is newer", async () => {
  const s = service([success({ events: [event], next: "p1" }), success({ events: [], next: "p1" })]);
  const got: string[] = [];
  for await (const e of s.client.feed()) got.push(e.eventID);
  assert.deepEqual(got, [event.eventID]);
  assert.equal(s.asked[1]?.url, "https://pay.example/api/v1/account/events?after=p1");
});

test("no print shows a key", async () => {
  const s = service([new TypeError("cut")], { attempts: 1 });
  const failed = await s.client.withdraw({ currency: "BTC", amount: "1", address: "a" }).catch((e: unknown) => e);
  for (const text of [inspect(s.client), JSON.stringify(s.client), inspect(failed)]) {
    assert.doesNotMatch(text, /the key|the secret/);
  }
});

test("a webhook that is signed is read", () => {
  const { headers, body } = signWebhook(secret, event, now);
  assert.deepEqual(verifyWebhook(secret, headers, body, now + tolerance), event);
  const more = new Headers({ ...headers, "webhook-signature": "v2,x v1,AAAA " + headers["webhook-signature"] });
  assert.deepEqual(verifyWebhook(secret, more, new TextEncoder().encode(body), now - tolerance), event);
});

test("the vector of Standard Webhooks is signed as we sign", () => {
  const headers = { "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" };
  const key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", body = '{"test": 2432232314}';
  assert.throws(() => verifyWebhook(key, headers, body, 1614265330), { why: "body" }); // its body is none of ours, so only the signature is valid
});

test("a webhook that must not be trusted is refused", () => {
  const { headers, body } = signWebhook(secret, event, now);
  for (const [why, key, change, text, at] of [
    ["signature", secret, {}, body + " ", now],
    ["signature", secret, { "webhook-id": "other" }, body, now],
    ["signature", secret, { "webhook-timestamp": String(now + 1) }, body, now],
    ["signature", "whsec_b3RoZXI=", {}, body, now],
    ["signature", secret, { "webhook-signature": headers["webhook-signature"]!.slice(1) }, body, now],
    ["signature", secret, { "webhook-signature": headers["webhook-signature"] + "AAAA" }, body, now],
    ["timestamp", secret, {}, body, now + tolerance + 1],
    ["timestamp", secret, {}, body, now - tolerance - 1],
    ["timestamp", secret, {}, body, NaN],
    ["headers", secret, { "webhook-timestamp": "-1" }, body, now],
    ["headers", secret, { "Webhook-ID": "twice" }, body, now],
    ["headers", secret, { "webhook-signature": undefined }, body, now],
    ["secret", "whsec_", {}, body, now],
    ["secret", secret.slice(6), {}, body, now],
  ] as [WebhookError["why"], string, object, string, number][]) {
    assert.throws(() => verifyWebhook(key, { ...headers, ...change }, text, at), { name: "WebhookError", why });
  }
});

interface Case {
  name: string;
  payment: Payment & { created: number };
  text: string;
  signature: string;
}

const vectors: {
  privateKey: string;
  keyID: string;
  orders: { account: string; instance: string; for: number; assets: Record<string, Asset> };
  signed: Case[];
  refused: Case[];
} = JSON.parse(readFileSync(process.env.BURSAR_VECTORS ?? "../vectors/orders.json", "utf8"));

const orders = new Orders({ ...vectors.orders, key: orderKey(vectors.privateKey), life: vectors.orders.for });

test("orders are those of the shared vectors", async () => {
  assert.equal(orderKey(vectors.privateKey).id, vectors.keyID);
  for (const { name, payment, text, signature } of vectors.signed) {
    assert.deepEqual(await orders.sign(payment), { order: text, signature }, name);
  }
  for (const { name, payment } of vectors.refused) {
    await assert.rejects(orders.sign(payment), TypeError, name);
  }
  assert.doesNotMatch(inspect(orders) + JSON.stringify(orders), /PRIVATE/);
});

test("a key of P-256 signs r and s", () => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const [id, signature = ""] = orderKey(privateKey).sign("text").toString().split(":");
  const key = { key: publicKey, dsaEncoding: "ieee-p1363" as const };
  assert.equal(id, orderKeyID(publicKey));
  assert.ok(verify("sha256", Buffer.from("text"), key, Buffer.from(signature, "base64")));
  assert.throws(() => orderKey(generateKeyPairSync("ec", { namedCurve: "secp384r1" }).privateKey), TypeError);
});

test("a client with orders signs what it sends", async () => {
  const { payment, text, signature } = vectors.signed[0]!;
  const { idempotencyKey, created, maxFee, ...values } = payment;
  const answers = [new TypeError("cut"), success({ withdrawal: {} }), success({}), success({ results: [] })];
  const s = service(answers, { orders });
  await s.client.withdraw(values, { idempotencyKey, created, maxFee });
  const { currency, ...refund } = { ...values, chargeID: "c", depositID: "d" };
  await s.client.refundCharge(refund, { idempotencyKey, created, maxFee, currency });
  await s.client.withdrawEach({ withdrawals: [{ ...values, reference: idempotencyKey, created, maxFee }] });
  for (const { body, headers } of s.asked.slice(0, 3)) {
    assert.deepEqual([body?.order, headers["Bursar-Signature"], headers["Idempotency-Key"]],
      [text, signature, idempotencyKey]);
  }
  assert.deepEqual(s.asked[3]?.body?.withdrawals, [{ ...values, reference: idempotencyKey, order: text, signature }]);
  await assert.rejects(s.client.refundCharge({ chargeID: "c", depositID: "d", address: "a", part: "all" }), TypeError);
});
