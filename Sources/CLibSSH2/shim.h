#pragma once
#include <libssh2.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
