// Signs a statement with sigstore-js and prints the bundles as JSON, by name.
//
// Standard input: {"url": of the loopback services, "token": an identity token, "statement": Base64 of the payload}

import { readFileSync } from "node:fs";

import { bundleToJSON } from "@sigstore/bundle";
import { DSSEBundleBuilder, FulcioSigner, MessageSignatureBundleBuilder, RekorWitness, TSAWitness } from "@sigstore/sign";
import { attest } from "sigstore";

const PAYLOAD_TYPE = "application/vnd.in-toto+json";

const { url, token, statement } = JSON.parse(readFileSync(0, "utf8"));
const payload = Buffer.from(statement, "base64");

const once = { retry: false };
const services = { fulcioURL: url, rekorURL: url, identityToken: token, ...once };

// The package's front door signs by version 1 of the log.
const bundles = {
  v1: await attest(payload, PAYLOAD_TYPE, services),
  v1_stamped: await attest(payload, PAYLOAD_TYPE, { ...services, tsaServerURL: url }),
  v1_legacy: await attest(payload, PAYLOAD_TYPE, { ...services, legacyCompatibility: true }),
  stamped_only: await attest(payload, PAYLOAD_TYPE, { ...services, tlogUpload: false, tsaServerURL: url }),
};

// Version 2 is reached through the parts that the front door is made of.
const signer = new FulcioSigner({ fulcioBaseURL: url, identityProvider: { getToken: async () => token }, ...once });
const witnesses = [
  new RekorWitness({ rekorBaseURL: url, majorApiVersion: 2, ...once }),
  new TSAWitness({ tsaBaseURL: url, ...once }),
];
const artifact = { data: payload, type: PAYLOAD_TYPE };
bundles.v2 = bundleToJSON(await new DSSEBundleBuilder({ signer, witnesses }).create(artifact));
bundles.message = bundleToJSON(await new MessageSignatureBundleBuilder({ signer, witnesses }).create(artifact));

process.stdout.write(JSON.stringify(bundles));
