// Runs the tests of the PHP client on PHP 7.4, the oldest that it is for, compiled to WebAssembly:
// node php74.mjs FOLDER-OF-CLIENTS. That build lacks the extension sodium, so that Node.js signs with ed25519 in its
// place; what is signed, and all else, is the client's own.
import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { PHP, loadPHPRuntime } from "@php-wasm/universal";
import { getPHPLoaderModule } from "@php-wasm/node-7-4";

const clients = process.argv[2];
const php = new PHP(await loadPHPRuntime(await getPHPLoaderModule(), {}));

function copy(from, to) {
  php.mkdir(to);
  for (const name of readdirSync(from)) {
    const path = join(from, name);
    if (statSync(path).isDirectory()) copy(path, `${to}/${name}`);
    else php.writeFile(`${to}/${name}`, readFileSync(path));
  }
}
copy(join(clients, "php"), "/clients/php");
copy(join(clients, "vectors"), "/clients/vectors");

const keyOf = (seed) => createPrivateKey({
  key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]), format: "der", type: "pkcs8",
});
php.onMessage(async (text) => {
  const { what, seed, message } = JSON.parse(text);
  const key = keyOf(Buffer.from(seed, "hex"));
  if (what === "sign") return sign(null, Buffer.from(message, "hex"), key).toString("hex");
  return createPublicKey(key).export({ format: "der", type: "spki" }).subarray(12).toString("hex");
});

const result = await php.run({ code: `<?php
function node_sodium(array $request): string { return hex2bin(post_message_to_js(json_encode($request))); }
function sodium_crypto_sign_seed_keypair(string $seed): string { return $seed; }
function sodium_crypto_sign_secretkey(string $pair): string { return $pair; }
function sodium_crypto_sign_publickey(string $pair): string {
  return node_sodium(['what' => 'public', 'seed' => bin2hex($pair)]);
}
function sodium_crypto_sign_detached(string $text, string $secret): string {
  return node_sodium(['what' => 'sign', 'seed' => bin2hex($secret), 'message' => bin2hex($text)]);
}
echo 'PHP ', PHP_VERSION, "\\n";
chdir('/clients/php');
require '/clients/php/test.php';
` });
process.stdout.write(result.text);
process.stderr.write(result.errors ?? "");
process.exit(result.exitCode);
