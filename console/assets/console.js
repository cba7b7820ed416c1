// The console works without this script, but for passkeys.

for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", () => navigator.clipboard.writeText(button.dataset.copy));
}

async function ask(path, body) {
  const answer = await fetch("/admin/v1" + path, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.error);
  return said;
}

// make makes a passkey, for the token of an invitation or for who has signed in and shows a passkey again.
async function make(path, proof) {
  const begun = await ask(path, proof);
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(begun.options);
  const made = await navigator.credentials.create({ publicKey });
  return ask("/invited/finish", { ceremony: begun.ceremony, response: made.toJSON() });
}

async function prove() {
  const begun = await ask("/sign-in/begin", {});
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(begun.options);
  const signed = await navigator.credentials.get({ publicKey });
  return { ceremony: begun.ceremony, response: signed.toJSON() };
}

const signIn = async () => ask("/sign-in/finish", await prove());

// approve has the passkey sign the text of a proposal: its challenge is made of that text.
async function approve() {
  const about = document.querySelector("[data-approve]").dataset;
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    { challenge: about.challenge, userVerification: "required" });
  const signed = await navigator.credentials.get({ publicKey });
  await ask(about.approve, { hash: about.hash, evidence: JSON.stringify(signed.toJSON()) });
  return { see: location.pathname };
}

// sign has the passkey sign the text of an approval, which the signer verifies itself.
async function sign(button) {
  const about = button.closest("[data-sign]").dataset;
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    { challenge: about.challenge, userVerification: "required" });
  const signed = await navigator.credentials.get({ publicKey });
  const done = await ask(about.sign, { text: about.text, evidence: JSON.stringify(signed.toJSON()) });
  return { see: done.see.replace("/admin/v1", "/console") };
}

const ways = {
  "approve": approve,
  "sign": sign,
  "sign-in": signIn,
  "invited": () => make("/invited/begin", { token: location.hash.slice(1) }),
  "passkeys": async () => make("/passkeys/begin", await prove()),
};

const able = window.PublicKeyCredential?.parseCreationOptionsFromJSON && navigator.credentials;

for (const button of document.querySelectorAll("button[data-passkey]")) {
  button.hidden = !able;
  if (!able) {
    const said = document.querySelector("[data-said]");
    said.textContent = window.isSecureContext ? "This browser is too old for passkeys: update it." :
      "Passkeys need HTTPS, or localhost.";
    said.hidden = false;
    continue;
  }
  button.addEventListener("click", async () => {
    const said = document.querySelector("[data-said]");
    said.hidden = true;
    button.disabled = true;
    try {
      const done = await ways[button.dataset.passkey](button);
      location.assign(done.see);
    } catch (problem) {
      said.textContent = problem.name === "NotAllowedError" ? "Nothing was done: the passkey was not used." : problem.message;
      said.hidden = false;
      button.disabled = false;
    }
  });
}
