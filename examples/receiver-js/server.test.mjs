import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import test from "node:test";
import { receiver } from "./server.mjs";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

test("an event is taken once, and only if it is true", async () => {
  const taken = [];
  let fail = true;
  const server = createServer(receiver(secret, async (event) => {
    await Promise.resolve(); // work takes time
    if (event.event === "paid" && fail) {
      fail = false;
      throw new Error("the database is away");
    }
    taken.push(event.eventID);
  })).listen(0, "127.0.0.1");
  await once(server, "listening");
  const send = async (event, { tamper = "", age = 0 } = {}) => {
    const body = JSON.stringify({ success: true, response: { webhook: event } });
    const at = Math.floor(Date.now() / 1000) - age;
    const mac = createHmac("sha256", Buffer.from(secret.slice(6), "base64")).update(`one.${at}.${body}`).digest("base64");
    const answer = await fetch(`http://127.0.0.1:${server.address().port}/hooks/bursar`, {
      method: "POST",
      body: body + tamper,
      headers: { "webhook-id": "one", "webhook-timestamp": `${at}`, "webhook-signature": `v1,AAAA v1,${mac}` },
    });
    return answer.status;
  };
  const deposit = { eventID: "a", event: "deposit", deposit: { metadata: "é" } };
  assert.equal(await send(deposit, { tamper: " " }), 400);
  assert.equal(await send(deposit, { tamper: " ".repeat(1 << 20) }), 400);
  assert.equal(await send(deposit, { age: 600 }), 400);
  assert.equal(await send(deposit), 204);
  assert.equal(await send(deposit), 204);
  assert.equal(await send({ eventID: "b", event: "paid" }), 500);
  assert.equal(await send({ eventID: "b", event: "paid" }), 204);
  assert.deepEqual(await Promise.all([send({ eventID: "c" }), send({ eventID: "c" })]), [204, 204]);
  assert.deepEqual(taken, ["a", "b", "c"]);
  server.close();
});
