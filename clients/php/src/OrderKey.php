<?php

declare(strict_types=1);

namespace Bursar;

use InvalidArgumentException;
use LogicException;

/** A key that signs orders. */
final class OrderKey
{
    /** What stands before the 32 bytes of an ed25519 key (RFC 8410): of PKCS #8, and of SubjectPublicKeyInfo. */
    private const PRIVATE_PREFIX = "\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
    private const PUBLIC_PREFIX = "\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00";

    /** @var string */
    private $id;

    /** @var callable(string): string */
    private $signer;

    /**
     * Takes a key that is elsewhere, such as in a hardware module: its public half as SubjectPublicKeyInfo in DER, of
     * ed25519 or P-256, and what returns the 64 bytes of its signature over a text.
     *
     * @param callable(string): string $signer
     */
    public function __construct(string $publicDER, callable $signer)
    {
        $this->id = substr(hash('sha256', $publicDER), 0, 32);
        $this->signer = $signer;
    }

    /** Reads an ed25519 key as openssl genpkey -algorithm ed25519 writes it. Needs the extension sodium. */
    public static function fromPEM(
        #[\SensitiveParameter]
        string $text
    ): self {
        $found = preg_match('/^-----BEGIN PRIVATE KEY-----\s+(\S+)\s+-----END PRIVATE KEY-----\s*$/D', $text, $parts);
        $der = $found ? base64_decode($parts[1], true) : false;
        if ($der === false || strlen($der) !== 48 || strncmp($der, self::PRIVATE_PREFIX, 16) !== 0) {
            throw new InvalidArgumentException('that is no private key of ed25519 as OpenSSL writes it');
        }
        return self::ed25519(substr($der, 16));
    }

    /** Takes the 32 bytes of an ed25519 key. Needs the extension sodium. */
    public static function ed25519(
        #[\SensitiveParameter]
        string $seed
    ): self {
        if (strlen($seed) !== 32) {
            throw new InvalidArgumentException('a key of ed25519 has 32 bytes');
        }
        $pair = sodium_crypto_sign_seed_keypair($seed);
        $secret = sodium_crypto_sign_secretkey($pair);
        return new self(
            self::PUBLIC_PREFIX . sodium_crypto_sign_publickey($pair),
            static fn (string $text): string => sodium_crypto_sign_detached($text, $secret)
        );
    }

    /** Returns the ID under which the service knows the key. */
    public function id(): string
    {
        return $this->id;
    }

    /** Signs an order's text and returns the value of the header Bursar-Signature. */
    public function sign(string $text): string
    {
        $signature = ($this->signer)($text);
        if (strlen($signature) !== 64) {
            throw new LogicException('the signature has ' . strlen($signature) . ' bytes, want 64');
        }
        return $this->id . ':' . base64_encode($signature);
    }

    /** Shows no key. */
    public function __debugInfo(): array
    {
        return ['id' => $this->id];
    }

    /** Nobody stores a key by mistake. */
    public function __serialize(): array
    {
        throw new LogicException('a key is not stored');
    }
}
