#ifndef TANDEM_LIBYAML_SHIM_H
#define TANDEM_LIBYAML_SHIM_H
#include <yaml.h>
#endif
