// Verifies bundles with sigstore-js and prints for each case, by name, null or why it was refused.
//
// Standard input: {name: {"root": a trusted root, "subject": …, "issuer": …, "bundle": …}}

import { readFileSync } from "node:fs";

import { bundleFromJSON } from "@sigstore/bundle";
import { TrustedRoot } from "@sigstore/protobuf-specs";
import { Verifier, toSignedEntity, toTrustMaterial } from "@sigstore/verify";

// A subject is a regular expression to sigstore-js: take every character literally, from the first to the last.
const exactly = (subject) => `^${subject.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;

const verdicts = {};
for (const [name, { root, subject, issuer, bundle }] of Object.entries(JSON.parse(readFileSync(0, "utf8")))) {
  try {
    const verifier = new Verifier(toTrustMaterial(TrustedRoot.fromJSON(root)));
    const policy = { subjectAlternativeName: exactly(subject), extensions: { issuer } };
    verifier.verify(toSignedEntity(bundleFromJSON(bundle)), policy);
    verdicts[name] = null;
  } catch (error) {
    verdicts[name] = `${error.code ?? error.name}: ${error.message}`;
  }
}
process.stdout.write(JSON.stringify(verdicts));
