<?php

declare(strict_types=1);

namespace Bursar;

use RuntimeException;

/** No whole response came, so the outcome of a change is not known: repeat it with the same idempotencyKey. */
final class NoResponse extends RuntimeException
{
    /** @var string of a change; '' of a GET */
    public $idempotencyKey = '';
}
