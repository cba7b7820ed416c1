<?php

declare(strict_types=1);

namespace Bursar\WooCommerce;

use Bursar\Client;

/** What the shop has set, in WooCommerce's settings or, for keys, by constants in wp-config.php. */
final class Settings
{
    /** @var array<string, string> */
    private $values;

    /** @var callable(array<string, mixed>): Client */
    private $connect;

    /**
     * @param array<string, string> $values
     * @param (callable(array<string, mixed>): Client)|null $connect in place of the network, in tests
     */
    public function __construct(
        #[\SensitiveParameter]
        array $values,
        ?callable $connect = null
    ) {
        $this->values = $values;
        $this->connect = $connect ?? static fn (array $config): Client => new Client($config);
    }

    /** Returns the settings of this shop. */
    public static function load(): self
    {
        $stored = get_option('woocommerce_' . Gateway::ID . '_settings', []);
        return new self(is_array($stored) ? $stored : []);
    }

    /** Returns a setting; a constant such as BURSAR_SECRET comes first. */
    public function get(string $name): string
    {
        $constant = 'BURSAR_' . strtoupper($name);
        return trim((string) (defined($constant) ? constant($constant) : ($this->values[$name] ?? '')));
    }

    /** Reports whether the service can be asked and its webhooks verified. */
    public function complete(): bool
    {
        foreach (['url', 'key', 'webhook_secret', 'currencies'] as $name) {
            if ($this->get($name) === '') {
                return false;
            }
        }
        return true;
    }

    /** Returns a client of the service. A page of the shop waits for it, so it gives up sooner than usual. */
    public function client(): Client
    {
        return ($this->connect)([
            'baseURL' => $this->get('url'),
            'key' => $this->get('key'),
            'secret' => $this->get('secret'),
            'attempts' => 3,
            'maxWait' => 3,
            'timeout' => 15,
        ]);
    }

    /** Shows no key. */
    public function __debugInfo(): array
    {
        return ['url' => $this->get('url')];
    }
}
